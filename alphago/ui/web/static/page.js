// The page of `alphago web`: a WebSocket that comes back, the board, and the runs that are watched.

import { mount } from "./board.js";

const SESSION = "alphago-board"; // where the tab keeps the key of its board, for a reload
const banner = document.getElementById("connection");
const places = { play: document.getElementById("play"), watch: document.getElementById("watch") };

class Connection {
  constructor() {
    this.listeners = [];
    this.waiting = [];
    this.pause = 250;
    this.link = location.hash.slice(1);
    this.fresh = true; // nothing was shown yet
    this.ready = false; // the board is there: what is sent before would be of another one
    this.open();
  }

  open() {
    this.ready = false;
    const key = sessionStorage.getItem(SESSION) || "";
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/board?key=${encodeURIComponent(key)}`);
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.socket.onclose = () => this.lost();
  }

  receive(message) {
    if (message.type === "welcome") this.begin(message);
    if (message.type === "notice" && message.kind === "refused") {
      this.refused = message.text;
      this.say(message.text);
    }
    for (const listener of this.listeners) listener(message);
    if (message.type === "state" && !this.ready) this.go();
  }

  begin(message) {
    this.pause = 250;
    this.refused = "";
    sessionStorage.setItem(SESSION, message.key);
    const asked = this.fresh && this.link && this.link !== sessionStorage.getItem(`${SESSION}-link`);
    if (!message.resumed || asked) {
      this.socket.send(JSON.stringify({ type: "hello", link: this.link }));
    }
    this.fresh = false;
  }

  go() {
    this.ready = true;
    this.say("");
    for (const waiting of this.waiting.splice(0)) this.socket.send(waiting);
  }

  lost() {
    this.say(this.refused || "The connection to the server is lost; trying again …");
    setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(2 * this.pause, 5000);
  }

  say(text) {
    banner.textContent = text;
    banner.hidden = !text;
  }

  send(message) {
    const text = JSON.stringify(message);
    if (this.ready && this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
    else if (this.waiting.length < 20) this.waiting.push(text);
  }

  listen(listener) {
    this.listeners.push(listener);
    return () => { this.listeners = this.listeners.filter((one) => one !== listener); };
  }

  remember(link) {
    this.link = link;
    sessionStorage.setItem(`${SESSION}-link`, link);
    if (location.hash.slice(1) !== link) history.replaceState(null, "", `#${link}`);
  }
}

function show(name) {
  for (const [place, element] of Object.entries(places)) element.hidden = place !== name;
  for (const button of document.querySelectorAll("nav button")) {
    button.setAttribute("aria-pressed", button.dataset.tab === name);
  }
  places[name].dispatchEvent(new Event("shown"));
}

const connection = new Connection();
mount(places.play, connection, {
  keys: document,
  isShown: () => !places.play.hidden,
  onLink: (link) => connection.remember(link),
});
window.addEventListener("hashchange", () => {
  const link = location.hash.slice(1);
  if (link && link !== connection.link) connection.send({ type: "hello", link });
});
for (const button of document.querySelectorAll("nav button")) button.addEventListener("click", (event) => {
  if (event.detail) button.blur();
  show(button.dataset.tab);
});

let watching = false;
connection.listen(async (message) => {
  if (message.type !== "welcome" || !message.runs.length || watching) return;
  watching = true;
  document.querySelector("nav").hidden = false;
  const { watch } = await import("./watch.js");
  watch(places.watch, (run, game) => {
    connection.send({ type: "run-game", run, game });
    show("play");
  });
  if (!connection.link || connection.link.indexOf("moves=") < 0) show("watch");
});
