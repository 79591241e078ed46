// The page's queries and their answers. Queries without an answer are sent again when a lost connection is back.

/** @typedef {{query: Query, hear: (answer: any) => void, fail: (error: Error) => void}} Asked */

export class Queries {
  /**
   * @param {(hear: (answer: any) => void, back: () => void) => Carrier} connect makes the carrier, which calls `hear` with each answer,
   *   and `back` when it can send, at first and after each loss
   * @param {(text: string) => void} tell called with what the other side is doing, for the status line
   */
  constructor(connect, tell) {
    this.number = 0;
    /** @type {Map<number, Asked>} */
    this.asked = new Map();
    this.tell = tell;
    this.carrier = connect((answer) => this.hear(answer), () => { // queries without a last answer are sent again
      for (const { query } of this.asked.values()) this.carrier.send(query);
    });
  }

  /**
   * Send a query that has one answer. An error's message is a sentence.
   * @param {Query} query
   * @returns {Promise<any>}
   */
  ask(query) {
    return new Promise((hear, fail) => { this.send(query, hear, fail); });
  }

  /**
   * Begin a search; `hear` is called with each reply, until the last one. The function that is returned ends the search.
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

  /** Send a query under a new number, which is returned. @param {Query} query @param {(answer: any) => void} hear @param {(error: Error) => void} fail */
  send(query, hear, fail) {
    this.number += 1;
    const asked = { query: { ...query, id: this.number }, hear, fail };
    this.asked.set(this.number, asked);
    this.carrier.send(asked.query);
    return this.number;
  }

  /** Pass an answer to the query that it belongs to. @param {any} answer */
  hear(answer) {
    if ("status" in answer) this.tell(answer.status);
    const asked = this.asked.get(answer.id);
    if (!asked) return;
    if (!answer.isDuringSearch) this.asked.delete(answer.id);
    if (answer.error) asked.fail(new Error(answer.error));
    else asked.hear(answer);
  }
}
