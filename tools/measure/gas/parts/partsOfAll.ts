import { honestTrace, chainProgram } from "../../../../testkit/protocol/chainProgram.ts";
import { Trace } from "../../../../src/program/trace/trace.ts";
import { playJob } from "../job.ts";
import type { Subject } from "../subject.ts";
import { gasWorld, playGame } from "../wholeDisputes.ts";
import { gasParts, sumOf, totalOf, type GasParts } from "./gasParts.ts";
import { renewalParts } from "./renewals.ts";

/** Gas of some transactions, by operations. */
type PartsRow = { of: string; transactions: number; total: number } & GasParts;

/** The step of ppocr4_rec whose dispute is the median, with a published trace and without. */
const MEDIAN_STEP = 36;
const JOB_CALLS = ["post", "claim", "submit", "deliver"];

const row = (of: string, all: readonly GasParts[]): PartsRow => {
  const sum = sumOf(all);
  return { of, transactions: all.length, total: totalOf(sum), ...sum };
};

/** Measures the gas by part for disputes, jobs and renewals. */
export async function partsOfAll(cls: Subject, rec: Subject): Promise<PartsRow[]> {
  const rows: PartsRow[] = [];
  for (const published of [false, true]) {
    const world = await gasWorld();
    const { gas } = await playGame(world, rec, MEDIAN_STEP, published);
    const moves: { move: string; parts: GasParts }[] = [];
    for (const { move, hash } of gas) moves.push({ move, parts: await gasParts(world, hash) });
    const name = published ? "a dispute, published" : "a dispute";
    const of = (chosen?: string): GasParts[] =>
      moves.filter(({ move }) => (chosen ?? move) === move).map(({ parts }) => parts);
    rows.push(
      row(name, of()),
      ...[...new Set(gas.map(({ move }) => move))].map((move) => row(`its ${move}`, of(move))),
    );
  }
  const sixteen = chainProgram(8, new Array<number>(16).fill(2));
  const answered = new Trace(cls.program, cls.tensors);
  for (const [name, program, trace, isAnswer] of [
    ["a job, 16 checkpoints", sixteen, honestTrace(sixteen), false],
    ["a job, an answer", cls, answered, true],
  ] as const) {
    const world = await gasWorld();
    const parts: GasParts[] = [];
    for (const hash of await playJob(world, program, trace, isAnswer)) parts.push(await gasParts(world, hash));
    rows.push(row(name, parts), ...parts.map((part, k) => row(`its ${JOB_CALLS[k]}`, [part])));
  }
  for (const [name, parts] of Object.entries(await renewalParts())) rows.push(row(name, [parts]));
  return rows;
}
