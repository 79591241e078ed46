// A notebook's board, as anywidget calls it: the page's board and column as a part of another page.

import { App } from "./app.js";
import { Desk } from "./desk.js";

export default {
  /** @param {{model: any, el: HTMLElement}} widget */
  render({ model, el }) {
    /** @type {(answer: any) => void} */
    let heard = () => {};
    const desk = new Desk((hear) => {
      heard = hear;
      model.on("msg:custom", hear);
      return { send: (query) => model.send(query) };
    });
    const app = new App(el, desk, { widget: true });
    desk.send({ type: "hello" });
    return () => {
      model.off("msg:custom", heard);
      app.destroy();
    };
  },
};
