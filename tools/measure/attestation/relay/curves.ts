import type { Chart } from "../../chart.ts";
import { heldShare, HONEST, partTimeShare, type Setting } from "./simulate.ts";

const SEED = 18;
const range = (count: number, step: number, from = 0): number[] =>
  Array.from({ length: count }, (_, k) => Number((from + k * step).toFixed(3)));
const line = (name: string, xs: readonly number[], y: (x: number) => number) => ({
  name,
  points: xs.map((x) => [x, y(x)] as const),
});

/** The pictures of docs/provisioning.md, by file name. @param rounds Exams a point. */
export function charts(rounds: number): Record<string, Chart> {
  const held = (change: Partial<Setting>): number => heldShare({ ...HONEST, ...change }, rounds, SEED);
  const tasks = [0.2, 0.3, 0.4, 0.6];
  return {
    relayAccepts: {
      title: "False accepts: one card behind several devices",
      x: "devices on the card",
      y: "share of devices that hold the class",
      lines: [
        ...tasks.map((task) => line(`task ${task} T`, range(8, 1, 1), (devices) => held({ devices, task }))),
        line("0.6 T, exams apart", range(8, 1, 1), (devices) => held({ devices, task: 0.6, isShared: false })),
      ],
    },
    relayDelays: {
      title: "False accepts: two devices on one card, which is far away",
      x: "what the way to the card adds, parts of T",
      y: "share of devices that hold the class",
      lines: tasks.map((task) => line(`task ${task} T`, range(13, 0.05), (relay) => held({ devices: 2, task, relay }))),
    },
    relayRejects: {
      title: "False rejects: honest devices, a card each",
      x: "the task, parts of T",
      y: "share of devices that do not hold the class",
      lines: [0.02, 0.05, 0.1, 0.2].map((delay) =>
        line(`inclusion ${delay} T`, range(17, 0.05, 0.2), (task) => 1 - held({ task, delay })),
      ),
    },
    relayAway: {
      title: "False rejects: honest devices that are away at times",
      x: "share of exams at which the device is away",
      y: "share of devices that do not hold the class",
      lines: [line("task 0.6 T", range(11, 0.05), (away) => 1 - held({ away }))],
    },
    relayBuilders: {
      title: "Builders: a card that is free half of the time",
      x: "share of the blocks that its owner builds",
      y: "share of the time at which it holds the class",
      lines: [2, 8, 32].map((odds) =>
        line(`one of ${odds}`, range(11, 0.02), (share) => partTimeShare(0.5, share, odds)),
      ),
    },
  };
}
