// A WebSocket to the page's board on the server, which comes back when it is lost.

import { say } from "./words.js";

const SESSION = "alphago-board"; // where the tab keeps the key of its board, for a reload
const [PAUSE, LONGEST_PAUSE] = [250, 5000]; // milliseconds before it tries again
const MOST_WAITING = 20; // messages that wait for the board

export class SocketConnection {
  constructor() {
    /** @type {((message: Message) => void)[]} */
    this.listeners = [];
    /** @type {string[]} */
    this.waiting = [];
    this.pause = PAUSE;
    this.link = location.hash.slice(1);
    this.fresh = true; // nothing was shown yet
    this.ready = false; // the board is there: what is sent before would be of another one
    this.socket = this.open();
  }

  open() {
    this.ready = false;
    const key = sessionStorage.getItem(SESSION) || "";
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/board?key=${encodeURIComponent(key)}`);
    socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    socket.onclose = () => this.lost();
    return socket;
  }

  /** @param {Message} message */
  receive(message) {
    if (message.type === "welcome") this.begin(message);
    this.tell(message);
    if (message.type === "state" && !this.ready) this.go();
  }

  /** @param {WelcomeMessage} message */
  begin(message) {
    this.pause = PAUSE;
    sessionStorage.setItem(SESSION, message.key);
    const asked = this.fresh && this.link && this.link !== sessionStorage.getItem(`${SESSION}-link`);
    if (!message.resumed || asked) {
      this.socket.send(JSON.stringify({ type: "hello", link: this.link }));
    }
    this.fresh = false;
  }

  go() {
    this.ready = true;
    this.tell({ type: "status", text: "" });
    for (const waiting of this.waiting.splice(0)) this.socket.send(waiting);
  }

  lost() {
    this.tell({ type: "status", text: say.lost });
    setTimeout(() => { this.socket = this.open(); }, this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }

  /** @param {Message} message */
  tell(message) {
    for (const listener of this.listeners) listener(message);
  }

  /** @param {object} message */
  send(message) {
    const text = JSON.stringify(message);
    if (this.ready && this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
    else if (this.waiting.length < MOST_WAITING) this.waiting.push(text);
  }

  /** @param {(message: Message) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
    return () => { this.listeners = this.listeners.filter((one) => one !== listener); };
  }

  /** Keep the link of what is shown, for a reload and in the address. @param {string} link */
  remember(link) {
    this.link = link;
    sessionStorage.setItem(`${SESSION}-link`, link);
    if (location.hash.slice(1) !== link) history.replaceState(null, "", `#${link}`);
  }
}
