// Effects outside the page: it saves a file, makes a sound, and does what the browser may forbid.

import { h } from "./elements.js";

/** Save a text as a file. @param {string} name @param {string} text */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** The bytes of a file, each as a letter: only the other side knows in which encoding they are. @param {File} file */
export const bytesOf = async (file) => Array.from(new Uint8Array(await file.arrayBuffer()), (byte) => String.fromCharCode(byte)).join("");

/** @type {AudioContext | null} */
let audio = null;

/** Make the sound of a stone. */
export function click() {
  audio ||= new AudioContext();
  const length = 0.05 * audio.sampleRate;
  const buffer = audio.createBuffer(1, length, audio.sampleRate);
  buffer.copyToChannel(Float32Array.from({ length }, (_, i) => (Math.random() * 2 - 1) * Math.exp(-8 * i / length)), 0);
  const source = new AudioBufferSourceNode(audio, { buffer });
  source.connect(audio.destination);
  source.start();
}

/** What a function returns; null if it fails, as where the browser stores nothing: the page then goes on without. @param {() => any} act */
export function tried(act) {
  try {
    return act();
  } catch {
    return null;
  }
}
