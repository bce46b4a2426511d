import type { Chart, Line } from "../../chart.ts";
import { mean } from "../../../../testkit/training/trainer.ts";

/** Points of a line: each is the mean of as many losses. */
const POINTS = 60;

/**
 * Draws a run's losses over the items.
 * @param constants Lines for other losses, from side to side.
 */
export function lossChart(
  title: string,
  losses: readonly number[],
  levels: readonly number[],
  constants: Readonly<Record<string, number>> = {},
): Chart {
  const size = Math.max(1, Math.ceil(losses.length / POINTS));
  const points: [number, number][] = [];
  for (let from = 0; from < losses.length; from += size)
    points.push([from, Math.min(mean(losses.slice(from, from + size)), levels.at(-1)!)]);
  const last = points.at(-1)![0];
  const flat = Object.entries(constants).map(([name, level]): Line => ({
    name,
    points: [
      [0, level],
      [last, level],
    ],
  }));
  return { title, x: "item of the run", y: "loss", levels, lines: [{ name: "loss of a batch", points }, ...flat] };
}
