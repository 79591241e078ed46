// The network and the search, in workers of their own: one searches, the others evaluate positions for it.

import { tried } from "./effects.js";

/** @typedef {import("./engine_worker.js").Model} Model */
/** @typedef {import("./engine_worker.js").Request} Request */
/** @typedef {import("./engine_worker.js").Found} Found */

const PATIENCE = 20000; // milliseconds without a word from a worker, after which it counts as ended
const NONE = "The engine does not run here: this browser, or the site that this file is on, allows no workers";
const ENDED = "The engine has stopped; the next move starts it again";

export class Engine {
  /**
   * @param {string} source the text of engine_worker.js with all that it imports
   * @param {Model} model
   */
  constructor(source, model) {
    this.source = source;
    this.model = model;
    this.number = 0; // of the latest request
    this.lives = false; // whether the searching worker has said anything
    this.timer = 0;
    /** @type {Worker[]} */
    this.workers = [];
    /** @type {{tell: (found: Found) => void, fail: (fault: Error) => void} | null} */
    this.asked = null;
    tried(() => this.start()); // else the first search says so
  }

  /** Start the workers. */
  start() {
    this.lives = false;
    const address = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
    const count = Math.max(1, Math.min((navigator.hardwareConcurrency || 2) - 1, this.model.settings.leaves));
    const workers = Array.from({ length: count }, () => new Worker(address));
    const [searcher, ...helpers] = workers;
    searcher.onmessage = ({ data }) => this.hear(data);
    for (const worker of workers) worker.onerror = () => this.fail(new Error(this.lives ? ENDED : NONE));
    const ports = helpers.map((worker) => {
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ model: this.model, serve: port2 }, [port2]);
      return port1;
    });
    searcher.postMessage({ model: this.model, helpers: ports }, ports);
    this.workers = workers;
  }

  /** Take a message of the searching worker. @param {any} data */
  hear(data) {
    this.lives = true;
    const { asked } = this;
    if (asked) this.wait();
    if (!asked || data.number !== this.number) return undefined;
    if (data.fault) return this.fail(new Error(data.fault));
    if (!data.isDuringSearch) this.rest();
    return asked.tell(data);
  }

  /** End the workers and the request with an error; the next request starts new workers. @param {Error} fault */
  fail(fault) {
    const { asked } = this;
    this.rest();
    for (const worker of this.workers.splice(0)) worker.terminate();
    asked?.fail(fault);
  }

  // Begin to wait for the next message of the worker.
  wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fail(new Error(this.lives ? ENDED : NONE)), PATIENCE);
  }

  /** Expect no more messages. */
  rest() {
    clearTimeout(this.timer);
    this.asked = null;
  }

  /**
   * Search for a request; `tell` is called with each reply.
   * @param {Request} request
   * @param {(found: Found) => void} tell
   * @param {(fault: Error) => void} fail
   */
  search(request, tell, fail) {
    this.number = request.number;
    this.asked = { tell, fail };
    this.wait();
    try {
      if (!this.workers.length) this.start();
      this.workers[0].postMessage({ request });
    } catch {
      this.fail(new Error(NONE));
    }
  }

  /** Stop the search; nothing more of it is told. */
  stop() {
    this.rest();
    this.workers[0]?.postMessage({ request: null });
  }
}
