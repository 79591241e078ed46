// A WebSocket to the server, which comes back when it is lost.

import { say } from "./words.js";

const [PAUSE, LONGEST_PAUSE] = [250, 5000]; // milliseconds before it tries again
const MOST_BYTES = 4000000; // of a query (MOST_MESSAGE of alphago/ui/web/guard.py)

/**
 * @param {(answer: any) => void} hear
 * @param {() => void} back is called when the server can be asked, at first and after each loss
 * @returns {Carrier}
 */
export function socketCarrier(hear, back) {
  let [pause, refusal] = [PAUSE, ""]; // refusal: what the server said last, if it serves no more pages
  /** @type {WebSocket} */
  let socket;
  const open = () => {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/board`);
    socket.onopen = () => {
      hear({ status: "" });
      back();
    };
    socket.onmessage = ({ data }) => {
      const answer = JSON.parse(data);
      refusal = (answer.id === undefined && answer.error) || "";
      if (!refusal) pause = PAUSE; // a server that only refuses is asked less and less often
      hear(refusal ? { status: refusal } : answer);
    };
    socket.onclose = () => {
      hear({ status: refusal || say.lost });
      setTimeout(open, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    };
  };
  open();
  return { send: (query) => {
    const text = JSON.stringify(query);
    if (new Blob([text]).size > MOST_BYTES) hear({ id: query.id, error: say.tooLarge }); // the server would close the connection
    else if (socket.readyState === WebSocket.OPEN) socket.send(text);
  } };
}
