// What the engine does for the board: it moves, analyses, reviews a line, counts a game, or looks for a lesson.

import { lossesOf } from "./losses.js";
import { analysisOf } from "./replies.js";

/** @typedef {import("./desk.js").Desk} Desk */

/**
 * @typedef {object} Job
 * @property {"move" | "analyse" | "review" | "count" | "lesson"} purpose
 * @property {number[]} nodes still to be searched; the first one is being searched now
 * @property {number | null} limit readouts of a search
 * @property {{readouts: number, rate: number} | null} thought readouts of the search so far, and readouts a second; null before its first reply
 * @property {number} began when the search began, milliseconds of performance.now()
 * @property {() => void} end stops the search
 */

const EVERY = 0.12; // seconds between two replies of a search
const LESSON_VISITS = 101; // of the positions before and after a move
const POINTS_OF_A_GAME = 20; // points that count as much as a won game where no points are known

export class EngineJobs {
  /** @param {Desk} desk */
  constructor(desk) {
    this.desk = desk;
    /** @type {Job | null} */
    this.job = null;
    this.found = false; // whether any search of this page has replied so far
  }

  /** The purpose of the job, "" for none; a lesson counts as "move", since it is part of the engine's turn. */
  get busy() {
    return this.job ? this.job.purpose === "lesson" ? "move" : this.job.purpose : "";
  }

  /** Stop the job, if there is one. */
  stop() {
    this.job?.end();
    this.job = null;
  }

  /**
   * Stop the present job, and begin another.
   * @param {Job["purpose"]} purpose
   * @param {number[]} nodes
   * @param {number | null} [limit]
   */
  begin(purpose, nodes, limit = null) {
    this.stop();
    this.job = { purpose, nodes, limit, thought: null, began: performance.now(), end() {} };
    return this.job;
  }

  /** Choose and play a move; `fields` are those of the query, by default of the chosen strength. @param {object} [fields] */
  move(fields) {
    const { strength: { level, readouts, seconds, tree }, tree: { current, view } } = this.desk;
    const limit = tree ? Math.min(readouts ?? view.mostReadouts, view.mostReadouts) : 0;
    const job = this.begin("move", [current], seconds === null ? limit : null);
    this.search(job, { maxVisits: limit + 1, play: true, ...(seconds === null ? {} : { maxTime: seconds }), ...(tree && level !== null ? { level } : {}), ...fields });
  }

  /** Analyse the position on the board. @param {number} readouts 0 for the network alone */
  analyse(readouts) {
    this.search(this.begin("analyse", [this.desk.tree.current], readouts), { maxVisits: readouts + 1 });
  }

  /** Search the positions of the line that have fewer visits than these. @param {number} visits */
  review(visits) {
    const { tree } = this.desk;
    const nodes = tree.line().filter((node) => node.visits < visits).map(({ node }) => node);
    this.stop();
    if (nodes.length) this.reviewNext(this.begin("review", nodes, visits));
  }

  /** Search the first of the job's nodes, or skip it if the game is over there. @param {Job} job */
  reviewNext(job) {
    const [node] = job.nodes;
    this.after(job, this.desk.show(node), ({ view }) => {
      if (!view.over) this.search(job, { maxVisits: job.limit });
      else this.next(job);
    });
  }

  /** Go on with the next position of a job. @param {Job} job */
  next(job) {
    job.nodes.shift();
    job.began = performance.now();
    if (job.nodes.length) this.reviewNext(job);
    else if (job.purpose === "lesson") this.teach(job);
    else this.end();
  }

  /** Find the dead stones of the game that is over on the board. */
  count() {
    const { desk, desk: { tree } } = this;
    const { node } = tree;
    const job = this.begin("count", [tree.current]);
    this.after(job, desk.ask("count", { moves: tree.moves(), network: desk.strength.network }), (shown) => {
      Object.assign(node, { shown, dead: shown.count.dead });
      this.end();
    });
  }

  /** Search the positions before and after the last move, to find out whether it was a bad one. */
  lesson() {
    const { tree: { current, node } } = this.desk;
    this.reviewNext(this.begin("lesson", [node.parent, current], LESSON_VISITS));
  }

  /** If the last move was a bad one, explain it, and wait for the person; if not, go on. @param {Job} job whose positions were searched */
  teach(job) {
    const { desk, desk: { tree, tree: { node } } } = this;
    const [loss] = lossesOf([tree.nodes[node.parent], node]);
    const { names } = tree.view;
    const [best] = tree.nodes[node.parent].analysis?.moves ?? [];
    const isBad = loss && desk.teach !== null && (loss.points ?? POINTS_OF_A_GAME * loss.win) > Number(desk.teach);
    const own = { move: names[node.move], best: names[(isBad && best ? best : node).move], points: loss?.points, rate: loss?.win, sentences: [] };
    const asked = isBad ? desk.ask("why", { moves: tree.moves(), network: desk.strength.network, points: desk.teach }).catch(() => own) : Promise.resolve(own);
    this.after(job, asked, (answer) => {
      this.job = null;
      if (answer.best === answer.move) desk.afterMove();
      else {
        desk.lesson = node.node;
        desk.explain(node.parent, answer);
      }
      desk.changed();
    });
  }

  /**
   * Do something with an answer, if the job still goes on.
   * @param {Job} job
   * @param {Promise<any>} answer
   * @param {(answer: any) => void} act
   */
  after(job, answer, act) {
    answer.then((told) => this.desk.soon(() => job === this.job && act(told)), (error) => this.fail(job, error));
  }

  /** Search the first of the job's nodes. @param {Job} job @param {object} fields further fields of the query */
  search(job, fields) {
    const { desk, desk: { strength: { network }, tree, tree: { game } } } = this;
    const query = { game, moves: tree.moves(job.nodes[0]), network, includeOwnership: true, includePolicy: true, reportDuringSearchEvery: EVERY, ...fields };
    job.end = desk.queries.search(query, (reply) => desk.soon(() => job === this.job && this.told(job, reply)), (error) => this.fail(job, error));
  }

  /** End the job with an error, which `soon` shows; nothing happens if another job has begun. @param {Job} job @param {Error} error */
  fail(job, error) {
    this.desk.soon(() => {
      if (job !== this.job) return;
      this.job = null;
      throw error;
    });
  }

  /** Take a reply of the job's search; after the last one go on. @param {Job} job @param {SearchReply} reply */
  told(job, reply) {
    const { desk, desk: { tree } } = this;
    const [node] = job.nodes;
    tree.remember(node, analysisOf(reply, tree.view.names));
    job.thought = { readouts: reply.searched, rate: Math.round(reply.searched / Math.max((performance.now() - job.began) / 1000, 1e-3)) };
    this.found = true;
    desk.tell({ type: "thinking" });
    if (reply.isDuringSearch) return undefined;
    if (/review|lesson/.test(job.purpose)) return this.next(job);
    this.job = null;
    if (job.purpose !== "move") return desk.changed();
    desk.opponent = reply.opponent || "";
    return desk.enginePlays(String(reply.play));
  }

  // End the job.
  end() {
    this.stop();
    this.desk.changed();
  }
}
