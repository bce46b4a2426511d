import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { PlayedDispute } from "../../tools/measure/gas/wholeDisputes.ts";

type Dispute = Omit<PlayedDispute, "moves" | "dearestMove">;
type Row = Record<string, string | number>;
type Golden = {
  parts: Row[];
  jobs: Row[];
  runs: Row[];
  attestations: Row[];
  exams: Row[];
  validations: Row[];
  panels: Row[];
  proven: Row[];
  disputes: Record<string, Dispute[]>;
  endings: Row[];
  sweep: Row[];
  growth: Row[];
  proofs: Row[];
};

const golden = JSON.parse(readFileSync("test/golden/gas.json", "utf8")) as Golden;

const text = (value: string | number | undefined): string =>
  typeof value === "number" ? value.toLocaleString("en") : (value ?? "");
const yesNo = (value: boolean): string => (value ? "yes" : "no");
const middle = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)]!;
const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** The rows of the page's tables, without heads, as lists of cells. */
function tables(page: string): string[][][] {
  const found = page.matchAll(/(?:^\|.*\n)+/gm);
  return [...found].map(([table]) => {
    const [, , ...rows] = table.trimEnd().split("\n");
    return rows.map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  });
}

/** Chosen fields of each row. */
const fields = (rows: readonly Row[], keys: readonly string[]): string[][] =>
  rows.map((row) => keys.map((key) => text(row[key])));

/** One line for the disputes of a model with or without a published trace. */
function summary(model: string, games: readonly Dispute[]): string[] {
  const gas = ascending(games.map((game) => game.gas));
  const unproven = ascending(games.map((game) => game.gas - game.proof));
  return [
    model,
    yesNo(games[0]!.published),
    text(Math.max(...games.map(({ transactions }) => transactions))),
    ...[gas[0], middle(gas), gas.at(-1), middle(unproven)].map(text),
  ];
}

describe("docs/gas.md", () => {
  it("everyTable_isTheGoldenFile", () => {
    const disputes = Object.entries(golden.disputes);
    expect(tables(readFileSync("docs/gas.md", "utf8"))).to.deep.equal([
      fields(golden.jobs, ["job", "post", "claim", "submit", "deliver, finalise", "total"]),
      fields(golden.runs, ["run", "items", "post", "inputs", "claim", "submit", "finalise", "total", "an item"]),
      fields(golden.attestations, ["transaction", "gas"]),
      fields(golden.exams, ["transaction", "gas"]),
      fields(golden.validations, ["transaction", "gas"]),
      fields(golden.panels, ["transaction", "gas"]),
      fields(golden.proven, ["transaction", "gas"]),
      disputes.flatMap(([model, games]) =>
        [false, true]
          .map((published) => games.filter((game) => game.published === published))
          .filter((played) => played.length > 0)
          .map((played) => summary(model, played)),
      ),
      golden.disputes["ppocr4_rec"]!.map((game) => [
        text(game.step),
        game.operator,
        yesNo(game.published),
        ...[game.transactions, game.gas, game.proof].map(text),
      ]),
      fields(golden.endings, ["call", "gas"]),
      fields(golden.parts, [
        ...["of", "transactions", "total", "calldata", "storage", "hashing", "calls", "events", "memory", "computing"],
      ]),
      fields(golden.sweep, ["arity", "chunk", "transactions", "gas (model)", "gas (played)", "dearest move"]),
      fields(golden.growth, [
        "steps",
        "elements",
        "rounds",
        "transactions",
        "gas",
        "transactions, published trace",
        "gas, published trace",
      ]),
      fields(golden.proofs, ["reduce", "operator", "step", "terms", "gas", "estimate of the whole proof"]),
    ]);
  });
});
