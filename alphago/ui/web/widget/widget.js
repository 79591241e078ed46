// A notebook's board, as anywidget calls it: the page's board and column as a part of another page.

import { mount } from "./app.js";

export default {
  /** @param {{model: any, el: HTMLElement}} widget */
  render({ model, el }) {
    const app = mount(el, {
      send: (message) => model.send(message),
      listen: (callback) => {
        model.on("msg:custom", callback);
        return () => model.off("msg:custom", callback);
      },
    }, { widget: true });
    app.send("hello");
    return () => app.destroy();
  },
};
