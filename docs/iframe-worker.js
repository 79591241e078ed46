// Search on pages that are opened from the disk: browsers allow them no workers, so a hidden frame does a worker's work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = `<script>
        const own = postMessage.bind(window);
        // The worker's script sends one argument, upwards; the page sends two, to this frame.
        window.postMessage = (data, ...target) => (target.length ? own(data, ...target) : parent.postMessage(data, "*"));
        window.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
          const script = document.createElement("script");
          script.src = url;
          script.onload = done;
          document.head.append(script);
        })), Promise.resolve());
      </script><script src="${url}"></script>`;
      this.loaded = new Promise((done) => (this.frame.onload = done));
      window.addEventListener("message", (event) => {
        if (event.source !== this.frame.contentWindow) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        this.onmessage?.(copy);
      });
      document.body.append(this.frame);
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow.postMessage(data, "*"));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
