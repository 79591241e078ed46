// The desk without a page: `node desk.mjs MODULE` reads commands and answers from its input, a line of JSON each, and writes queries and messages.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { listen } from "./told.mjs";

const { Desk } = await import(pathToFileURL(process.argv[2]));
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
let hear;
const desk = new Desk((heard) => {
  hear = heard;
  return { send: (query) => say({ query }) };
}, { kept: () => null, keep() {} });
listen(desk, (message) => say({ message }));
for await (const line of createInterface({ input: process.stdin })) {
  const { answer, command } = JSON.parse(line);
  if (answer) hear(answer);
  else desk.send(command);
}
