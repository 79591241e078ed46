// What the page asks, with what is answered; what waits for an answer is asked again when a lost carrier is back.

/** @typedef {{query: Query, hear: (answer: any) => void, fail: (error: Error) => void}} Asked */

export class Queries {
  /**
   * @param {(hear: (answer: any) => void, back: () => void) => Carrier} connect
   * @param {(text: string) => void} tell takes what the other side is doing, for the status line
   */
  constructor(connect, tell) {
    this.number = 0;
    /** @type {Map<number, Asked>} */
    this.asked = new Map();
    this.tell = tell;
    this.carrier = connect((answer) => this.hear(answer), () => this.again());
  }

  /**
   * Ask once. An error is a sentence.
   * @param {Query} query
   * @returns {Promise<any>}
   */
  ask(query) {
    return new Promise((hear, fail) => { this.send(query, hear, fail); });
  }

  /**
   * Search; each answer is told, until one is the last or the search is ended by what is returned.
   * @param {Query} query
   * @param {(reply: SearchReply) => void} hear
   * @param {(error: Error) => void} fail
   */
  search(query, hear, fail) {
    const number = this.send(query, hear, fail);
    return () => {
      if (this.asked.delete(number)) this.carrier.send({ id: 0, action: "terminate", terminateId: number });
    };
  }

  /** @param {Query} query @param {(answer: any) => void} hear @param {(error: Error) => void} fail */
  send(query, hear, fail) {
    this.number += 1;
    const asked = { query: { ...query, id: this.number }, hear, fail };
    this.asked.set(this.number, asked);
    this.carrier.send(asked.query);
    return this.number;
  }

  /** @param {any} answer */
  hear(answer) {
    if ("status" in answer) this.tell(answer.status);
    const asked = this.asked.get(answer.id);
    if (!asked) return;
    if (!answer.isDuringSearch) this.asked.delete(answer.id);
    if (answer.error) asked.fail(new Error(answer.error));
    else asked.hear(answer);
  }

  again() {
    for (const { query } of this.asked.values()) this.carrier.send(query);
  }
}
