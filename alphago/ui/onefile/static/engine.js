// The network and the search, in workers of their own: one searches, the others evaluate positions for it.

import { tried } from "./effects.js";

/** @typedef {import("./engine_worker.js").Model} Model */
/** @typedef {import("./engine_worker.js").Request} Request */
/** @typedef {import("./engine_worker.js").Found} Found */

const PATIENCE = 20000; // milliseconds without a word from a worker, after which it counts as ended
const NONE = "The engine does not run here: this browser, or the site that this file is on, allows no workers";
const ENDED = "The engine has stopped; the next move starts it again";

/**
 * What searches.
 * @param {string} source the text of engine_worker.js with all that it imports
 * @param {Model} model
 */
export function makeEngine(source, model) {
  let latest = 0; // the number of the latest request
  let lives = false; // whether the searching worker has said anything
  let timer = 0;
  /** @type {Worker[]} */
  let workers = [];
  /** @type {{tell: (found: Found) => void, fail: (fault: Error) => void} | null} */
  let asked = null;

  /** Start the workers. */
  const start = () => {
    lives = false;
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const count = Math.max(1, Math.min((navigator.hardwareConcurrency || 2) - 1, model.settings.leaves));
    const started = Array.from({ length: count }, () => new Worker(address));
    const [searcher, ...helpers] = started;
    searcher.onmessage = ({ data }) => hear(data);
    for (const worker of started) worker.onerror = () => end(new Error(lives ? ENDED : NONE));
    const ports = helpers.map((worker) => {
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ model, serve: port2 }, [port2]);
      return port1;
    });
    searcher.postMessage({ model, helpers: ports }, ports);
    workers = started;
  };

  /** Take a message of the searching worker. @param {any} data */
  const hear = (data) => {
    lives = true;
    const request = asked;
    if (request) wait();
    if (!request || data.number !== latest) return undefined;
    if (data.fault) return end(new Error(data.fault));
    if (!data.isDuringSearch) rest();
    return request.tell(data);
  };

  /** End the workers and the request with an error; the next request starts new workers. @param {Error} fault */
  const end = (fault) => {
    const request = asked;
    rest();
    for (const worker of workers.splice(0)) worker.terminate();
    request?.fail(fault);
  };

  /** Begin to wait for the next message of the worker. */
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => end(new Error(lives ? ENDED : NONE)), PATIENCE);
  };

  /** Expect no more messages. */
  const rest = () => {
    clearTimeout(timer);
    asked = null;
  };

  tried(start); // else the first search says so
  return {
    /**
     * Search for a request; `tell` is called with each reply.
     * @param {Request} request
     * @param {(found: Found) => void} tell
     * @param {(fault: Error) => void} fail
     */
    search(request, tell, fail) {
      latest = request.number;
      asked = { tell, fail };
      wait();
      try {
        if (!workers.length) start();
        workers[0].postMessage({ request });
      } catch {
        end(new Error(NONE));
      }
    },

    /** Stop the search for a request, if it is the latest; nothing more of it is told. @param {number} number */
    stop(number) {
      if (number !== latest) return;
      rest();
      workers[0]?.postMessage({ request: null });
    },
  };
}
