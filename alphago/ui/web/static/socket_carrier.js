// A WebSocket to the server, which comes back when it is lost.

import { say } from "./words.js";

const [PAUSE, LONGEST_PAUSE] = [250, 5000]; // milliseconds before it tries again

/**
 * @param {(answer: any) => void} hear
 * @param {() => void} back is called when the server can be asked, at first and after each loss
 * @returns {Carrier}
 */
export function socketCarrier(hear, back) {
  let pause = PAUSE;
  /** @type {WebSocket} */
  let socket;
  const open = () => {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/board`);
    socket.onopen = () => {
      hear({ status: "" });
      back();
    };
    socket.onmessage = ({ data }) => {
      pause = PAUSE; // a server that only refuses is asked less and less often
      const answer = JSON.parse(data);
      hear(answer.id === undefined && answer.error ? { status: answer.error } : answer);
    };
    socket.onclose = () => {
      hear({ status: say.lost });
      setTimeout(open, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    };
  };
  open();
  return { send: (query) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(query)); } };
}
