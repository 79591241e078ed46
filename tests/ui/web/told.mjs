// What a desk tells, with all that the page reads of it then: its state, a thought of the engine, or an explanation.

export function listen(desk, say) {
  let tree, reasons, status = "";
  desk.tell = (message) => {
    const { jobs: { busy, job } } = desk;
    if (message.type === "notice" || message.type === "file") return say(message);
    if (message.type === "thinking") return say({ ...message, node: job.nodes[0], ...job.thought, limit: job.limit, analysis: desk.tree.nodes[job.nodes[0]].analysis });
    if (status !== (status = desk.status) || !desk.tree) return undefined;
    if (tree !== (tree = desk.tree)) say({ type: "game", game: tree.view, names: tree.names, nodes: tree.nodes });
    if (reasons !== (reasons = desk.reasons) && reasons) say({ type: "why", ...reasons });
    const { players, opponent, teach, study, analysing, strength } = desk;
    const { current, node, node: { analysis, comment } } = tree;
    return say({ ...message, node: current, line: tree.line().map((one) => one.node), view: tree.position, over: tree.over, result: tree.result, count: tree.count, players,
      strength, opponent, teach, lesson: desk.lesson === current, study, analysing, busy, analysis, comment, link: tree.linkHere() });
  };
}
