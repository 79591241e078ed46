// The network and the search, in workers of their own: one searches, the others evaluate positions for it.

/** @typedef {import("./engine_worker.js").Model} Model */
/** @typedef {import("./engine_worker.js").Request} Request */
/** @typedef {import("./engine_worker.js").Found} Found */

export class Engine {
  /**
   * @param {string} source the text of engine_worker.js with all that it imports
   * @param {Model} model
   * @param {(found: Found) => void} tell
   */
  constructor(source, model, tell) {
    this.number = 0; // of the latest request
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const count = Math.max(1, Math.min((navigator.hardwareConcurrency || 2) - 1, model.settings.leaves));
    const workers = Array.from({ length: count }, () => new Worker(address));
    this.searcher = workers[0];
    this.searcher.onmessage = ({ data }) => {
      if (data.number === this.number) tell(data);
    };
    const ports = workers.slice(1).map((worker) => {
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ model, serve: port2 }, [port2]);
      return port1;
    });
    this.searcher.postMessage({ model, helpers: ports }, ports);
    this.workers = workers;
  }

  /** @param {Omit<Request, "number">} request */
  search(request) {
    this.number += 1;
    this.searcher.postMessage({ request: { ...request, number: this.number } });
  }

  stop() {
    this.number += 1;
    this.searcher.postMessage({ request: null });
  }
}
