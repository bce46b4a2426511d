import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { toHex, type Hash } from "../../src/program/merkle/hash.ts";
import { Executions } from "../../src/runs/executions.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { snapshotInterval } from "../../src/dispute/run/storedRun.ts";
import { storedBytesOf, StoredRuns } from "../../src/runs/storedRuns.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { publishedRun } from "../../testkit/programs/publishedRun.ts";
import { RUN_COUNT, runInputBytes, runProgram } from "../../testkit/programs/runProgram.ts";
import { executionOf } from "../../testkit/programs/runsOf.ts";

const program = runProgram();
const STATE_BYTES = 4 * RUN_COUNT;
const ITEMS = 40;

function jobOf(items: number, id = 1): JobRecord {
  const inputs = new RunInputs(program.model.program.inputs, { items, firstItem: 0 }, runInputBytes(items));
  return publishedRun(program, inputs, id);
}

describe("what is kept of runs on disk", () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "refute-runs-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const runs = (maxBytes?: number, at = join(folder, "runs")) => new StoredRuns({ folder: at, maxBytes });
  /** A player that executes by the definition, and counts the items. */
  const player = (stored: StoredRuns) => {
    const items: number[] = [];
    const execute = executionOf();
    const executions = new Executions(
      ProgramLibrary.of([program]),
      (model, inputs, ...rest) => {
        items.push(Number(new DataView(inputs[3]!.buffer, inputs[3]!.byteOffset).getBigInt64(0, true)));
        return execute(model, inputs, ...rest);
      },
      undefined,
      stored,
    );
    const rootOf = async (job: JobRecord, item: number): Promise<Hash> =>
      (await executions.use(job, (run) => run.item(item).trace.root))!;
    return { executions, items, rootOf };
  };
  const filesOf = ({ id }: JobRecord): string[] => readdirSync(join(folder, "runs", id)).sort();

  it("aRestart_executesOnlyWhatIsAskedFor_fromTheNearestState", async () => {
    const job = jobOf(ITEMS);
    const first = player(runs());
    const { root, list } = (await first.executions.of(job))!;
    expect(filesOf(job)).to.have.length(ITEMS);
    const second = player(runs());
    expect((await second.executions.of(job))!.root).to.equal(root);
    expect(second.items).to.deep.equal([]);
    for (const item of [17, 0, ITEMS - 1]) {
      second.items.length = 0;
      expect(await second.rootOf(job, item)).to.equal(list.node(0, item));
      expect(second.items).to.deep.equal([item]);
    }
    const opened = await player(runs()).executions.output(job, 23, 1);
    expect(toHex(opened!.bytes)).to.equal(toHex((await first.executions.output(job, 23, 1))!.bytes));
  });

  it("states_areAtMostOneInterval_apart_andTakeWhatWasReserved", async () => {
    expect([1, 256, 257, 10_000, 65_536].map(snapshotInterval)).to.deep.equal([1, 1, 2, 40, 256]);
    for (const items of [2, 255, 256, 257, 600]) {
      const job = jobOf(items, items);
      await player(runs()).executions.of(job);
      const states = filesOf(job).filter((name) => name !== "roots");
      const interval = snapshotInterval(items);
      expect(states.map(Number).sort((a, b) => a - b)).to.deep.equal(
        Array.from({ length: states.length }, (_, k) => (k + 1) * interval),
      );
      expect(states.length).to.equal(Math.floor((items - 1) / interval));
      const bytes = filesOf(job).map((name) => readFileSync(join(folder, "runs", job.id, name)).length);
      expect(bytes.reduce((a, b) => a + b)).to.equal(storedBytesOf(job));
    }
    expect(storedBytesOf(jobOf(1))).to.equal(0);
  });

  it("spoiledFiles_areAsIfTheyWereNotThere", async () => {
    const job = jobOf(ITEMS);
    const { root, list } = (await player(runs()).executions.of(job))!;
    const pathOf = (name: string): string => join(folder, "runs", job.id, name);
    const original = readFileSync(pathOf("20"));
    const flipped = Buffer.from(original);
    flipped[100]! ^= 1;
    const spoiled = [flipped, original.subarray(0, -1), Buffer.alloc(0), readFileSync(pathOf("19"))];
    for (const bytes of spoiled) {
      writeFileSync(pathOf("20"), bytes);
      const { items, rootOf } = player(runs());
      expect(await rootOf(job, 20)).to.equal(list.node(0, 20));
      expect(items).to.deep.equal([19, 20]);
    }
    // Without the roots all is executed again.
    const roots = readFileSync(pathOf("roots"));
    roots[40]! ^= 1;
    writeFileSync(pathOf("roots"), roots);
    const { executions, items } = player(runs());
    expect((await executions.of(job))!.root).to.equal(root);
    expect(items).to.have.length(ITEMS);
  });

  it("aRunThatFillsTheBound_isWrittenAgain", async () => {
    const job = jobOf(ITEMS);
    const needed = storedBytesOf(job);
    await player(runs(needed)).executions.of(job);
    rmSync(join(folder, "runs", job.id, "roots"));
    const stored = runs(needed);
    await player(stored).executions.of(job);
    expect(stored.problem).to.equal(undefined);
    expect(filesOf(job)).to.have.length(ITEMS);
  });

  it("whatElseLiesInTheFolder_hidesNoRuns", async () => {
    const job = jobOf(ITEMS);
    await player(runs()).executions.of(job);
    writeFileSync(join(folder, "runs", ".DS_Store"), "");
    const { executions, items } = player(runs());
    await executions.of(job);
    expect(items).to.deep.equal([]);
  });

  it("whatBelongsToJobsThatAreGone_isDeleted_andWhatWasBeingWritten", async () => {
    const [gone, left, dropped] = [jobOf(3, 1), jobOf(4, 2), jobOf(5, 3)];
    const { executions } = player(runs());
    for (const job of [gone, left, dropped]) await executions.of(job);
    executions.drop(dropped);
    const stored = runs();
    stored.forget(new Map([[left.id, left]]));
    expect(readdirSync(join(folder, "runs"))).to.deep.equal([left.id]);
    const [claimed] = [await player(stored).rootOf(left, 2)];
    expect(claimed).to.equal(await player(new StoredRuns()).rootOf(left, 2));
  });

  it("withoutRoomOnDisk_someStatesAreInMemory_andWrittenLater", async () => {
    // A file where the folder would be: nothing can be written.
    const at = join(folder, "runs");
    writeFileSync(at, "");
    const stored = runs(undefined, at);
    const job = jobOf(64);
    const { executions, items, rootOf } = player(stored);
    const { list, bytes } = (await executions.of(job))!;
    expect(bytes).to.be.above(15 * STATE_BYTES);
    expect(stored.problem?.reason).to.include("cannot be kept on disk");
    expect((await stored.problemOf(1))?.reason).to.equal(stored.problem?.reason);
    expect(await stored.problemOf(0)).to.equal(undefined);
    items.length = 0;
    expect(await rootOf(job, 39)).to.equal(list.node(0, 39));
    expect(items.length).to.be.within(1, 4);
    rmSync(at);
    mkdirSync(at);
    await stored.flush();
    expect(stored.problem).to.equal(undefined);
    expect(filesOf(job)).to.include("roots").and.have.length.above(15);
    expect(await stored.problemOf(1)).to.equal(undefined);
  });

  it("room_isCountedBeforeAJobIsClaimed", async () => {
    const [one, two] = [jobOf(ITEMS, 1), jobOf(ITEMS, 2)];
    const needed = storedBytesOf(one);
    const stored = runs(2 * needed - 1);
    expect(await stored.problemOf(needed)).to.equal(undefined);
    stored.reserve([one]);
    expect((await stored.problemOf(needed))?.reason).to.include("--snapshot-mib");
    expect(stored.canHold(needed)).to.equal(true);
    expect(stored.canHold(2 * needed)).to.equal(false);
    const { executions } = player(stored);
    await executions.of(one);
    expect((await stored.problemOf(needed))?.reason).to.include("--snapshot-mib");
    // A run that nobody made room for takes what is left, and nothing of what others have.
    await executions.of(two);
    expect(filesOf(one)).to.have.length(ITEMS);
    expect(filesOf(two).length).to.be.below(ITEMS);
    executions.drop(two);
    await stored.flush();
    stored.reserve([]);
    executions.drop(one);
    expect(await stored.problemOf(needed)).to.equal(undefined);
    // No disk has as much.
    expect((await runs(2 ** 62).problemOf(2 ** 61))?.reason).to.include("the disk has");
  });
});
