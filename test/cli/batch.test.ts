import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryFolder } from "../../src/deploy/devnet/temporaryFolder.ts";
import { readNpy } from "../../src/model/onnx/inputs/npy.ts";
import { refute } from "./refute.ts";

const MODEL = "examples/iris/model/iris.onnx";
const ROWS = [
  [5.1, 3.5, 1.4, 0.2],
  [6.7, 3.1, 4.7, 1.5],
  [7.2, 3.6, 6.1, 2.5],
];

describe("a batch before it is paid", () => {
  const { path: folder, remove } = temporaryFolder("refute-batch-");
  const rows = join(folder, "rows");
  const write = (at: string, value: unknown): string => {
    writeFileSync(at, JSON.stringify(value));
    return at;
  };
  before(() => {
    mkdirSync(rows);
    ROWS.forEach((row, k) => write(join(rows, `row${k}.json`), [row]));
  });
  after(() => remove());

  type Values = { name: string; values: number[] }[];

  it("run_ofABatch_givesEachItemItsOwnAnswer_inOrder", async () => {
    const file = join(folder, "all.npy");
    const { status, stdout, stderr } = await refute(["run", MODEL, "--batch", "--input", `features=${rows}`, "--json"]);
    expect(status, stderr).to.equal(0);
    const { items } = JSON.parse(stdout) as { items: Values[] };
    expect(items).to.have.length(ROWS.length);
    for (const [k] of ROWS.entries()) {
      const one = await refute(["run", MODEL, "--input", `features=${join(rows, `row${k}.json`)}`, "--json"]);
      expect(items[k]).to.deep.equal((JSON.parse(one.stdout) as { outputs: Values }).outputs);
    }
    const { name } = items[0]![0]!;
    const written = await refute([
      "run",
      MODEL,
      "--batch",
      "--input",
      `features=${rows}`,
      "--output",
      `${name}=${file}`,
    ]);
    expect(written.stdout)
      .to.match(/^item 2: /m)
      .and.match(/^3 items of \d+ steps/m);
    const { shape, bytes } = readNpy(readFileSync(file), file);
    expect(shape[0]).to.equal(ROWS.length);
    const values = [...new Float32Array(Uint8Array.from(bytes).buffer)];
    expect(values).to.deep.equal(items.flatMap(([output]) => output!.values));
  });

  it("run_ofItems_takesNoFlagThatItCannotKeep", async () => {
    const args = ["run", MODEL, "--input", `features=${join(rows, "row0.json")}`];
    expect((await refute([...args, "--batch", "--compare"])).stderr).to.match(/--compare: a run of items.*\[USAGE\]/);
    expect((await refute([...args, "--items", "3"])).stderr).to.match(/--items: .*--batch \[USAGE\]/);
  });

  it("badFileOfABatch_isNamed_beforeANodeIsAsked", async () => {
    const bad = write(join(folder, "bad.json"), [[5.1, 3.5, 1.4]]);
    // Nobody listens there: a request would end with another status.
    const env = { REFUTE_RPC_URL: "http://127.0.0.1:9", REFUTE_CHAIN_ID: "1", REFUTE_MARKET: `0x${"11".repeat(20)}` };
    const account = { ...env, REFUTE_PRIVATE_KEY: `0x${"12".repeat(32)}` };
    const all = [`features=${rows}`, `features=${bad}`].flatMap((input) => ["--input", input]);
    const submitted = await refute(["submit", MODEL, "--batch", ...all, "--fee", "0.1"], account);
    expect(submitted.status).to.equal(2);
    expect(submitted.stderr).to.match(/bad\.json: has the shape \[1, 3\].*\[1, 4\]/);
    write(join(rows, "row9.json"), [[1, 2]]);
    const canaries = ["--inputs", `features=${rows}`, "--fee", "0.1", "--purse", "1"];
    const drawn = await refute(["job", "canary", MODEL, ...canaries], account);
    expect(drawn.status).to.equal(2);
    expect(drawn.stderr).to.match(/row9\.json|\[1, 2\]/);
  });
});
