// The page's queries and their answers. Queries without an answer are sent again when a lost connection is back.

/** @typedef {{query: Query, hear: (answer: any) => void, fail: (error: Error) => void}} Asked */

/**
 * What asks queries.
 * @param {(hear: (answer: any) => void, back: () => void) => Carrier} connect makes the carrier, which calls `hear` with each answer,
 *   and `back` when it can send, at first and after each loss
 * @param {(text: string) => void} tell called with what the other side is doing, for the status line
 */
export function makeQueries(connect, tell) {
  /** @type {Map<number, Asked>} */
  const waiting = new Map();
  let latest = 0; // number of a query

  /** Pass an answer to the query that it belongs to. @param {any} answer */
  const pass = (answer) => {
    if ("status" in answer) tell(answer.status);
    const asked = waiting.get(answer.id);
    if (!asked) return;
    if (!answer.isDuringSearch) waiting.delete(answer.id);
    if (answer.error) asked.fail(new Error(answer.error));
    else asked.hear(answer);
  };
  const carrier = connect(pass, () => { // queries without a last answer are sent again
    for (const { query } of waiting.values()) carrier.send(query);
  });

  /** Send a query under a new number, which is returned. @param {Query} query @param {(answer: any) => void} hear @param {(error: Error) => void} fail */
  const send = (query, hear, fail) => {
    latest += 1;
    const asked = { query: { ...query, id: latest }, hear, fail };
    waiting.set(latest, asked);
    carrier.send(asked.query);
    return latest;
  };

  return {
    /** Send a query that has one answer. An error's message is a sentence. @type {(query: Query) => Promise<any>} */
    ask: (query) => new Promise((hear, fail) => { send(query, hear, fail); }),

    /**
     * Begin a search; `hear` is called with each reply, until the last one. The function that is returned ends the search.
     * @type {(query: Query, hear: (reply: SearchReply) => void, fail: (error: Error) => void) => () => void}
     */
    search(query, hear, fail) {
      const number = send(query, hear, fail);
      return () => {
        if (waiting.delete(number)) carrier.send({ id: 0, action: "terminate", terminateId: number });
      };
    },
  };
}
