import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { LocalAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { StoreError } from "../../../src/runs/fleet/errors.ts";
import { SharedRuns } from "../../../src/runs/fleet/sharedRuns.ts";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import { Executions } from "../../../src/runs/executions.ts";
import type { Logger } from "../../../src/base/log.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { StoredRuns } from "../../../src/runs/storedRuns.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { MemoryStore } from "../../../testkit/fleet/memoryStore.ts";
import { publishedRun } from "../../../testkit/programs/publishedRun.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";

const ITEMS = 12;
const program = runProgram();
const inputs = new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, runInputBytes(ITEMS));
const job: JobRecord = publishedRun(program, inputs);

describe("snapshots of runs in the store of a fleet", () => {
  const folder = mkdtempSync(join(tmpdir(), "refute-shared-"));
  after(() => rmSync(folder, { recursive: true }));
  const account = privateKeyToAccount(generatePrivateKey());
  let warnings: string[];
  beforeEach(() => void (warnings = []));
  const log = { warn: ({ reason }: { reason: string }) => void warnings.push(reason) } as unknown as Logger;
  let machines = 0;

  /** A machine with a disk of its own, and how often it executed an item. */
  async function machine(store: MemoryStore, by: LocalAccount = account, secret?: Uint8Array) {
    const share = (await SharedRuns.open(store, by, log, secret))!;
    const stored = new StoredRuns({ folder: join(folder, String(machines++)), share });
    let executed = 0;
    const execute = executionOf();
    const executions = new Executions(
      ProgramLibrary.of([program]),
      (...of) => {
        executed++;
        return execute(...of);
      },
      undefined,
      stored,
    );
    const itemRoot = (item: number) => executions.use(job, (run) => run.item(item).trace.root);
    return { executions, share, itemRoot, executed: () => executed };
  }

  it("anotherMachineWithTheKey_goesOnWhereTheOneEnded", async () => {
    const store = new MemoryStore();
    const one = await machine(store);
    const { root, list } = (await one.executions.of(job))!;
    await one.share.settled();
    expect(one.executed()).to.equal(ITEMS);
    const other = await machine(store);
    expect((await other.executions.of(job))!.root).to.equal(root);
    expect(other.executed()).to.equal(0);
    expect(await other.itemRoot(ITEMS - 2)).to.equal(list.node(0, ITEMS - 2));
    expect(other.executed()).to.be.lessThan(ITEMS / 2);
    expect(warnings).to.deep.equal([]);
  });

  it("whatIsNotOfTheAccount_spoiled_orNotThereWhole_isExecutedAgain", async () => {
    const store = new MemoryStore();
    const one = await machine(store);
    const { root } = (await one.executions.of(job))!;
    await one.share.settled();
    const watcher = await machine(store, privateKeyToAccount(generatePrivateKey()));
    expect([(await watcher.executions.of(job))!.root, watcher.executed()]).to.deep.equal([root, ITEMS]);
    await watcher.share.settled();
    // Each account has its own.
    const back = await machine(store);
    expect([(await back.executions.of(job))!.root, back.executed(), warnings]).to.deep.equal([root, 0, []]);
    const [own, other] = [...store.blobs.keys()].filter((name) => name.endsWith("/index"));
    store.blobs.set(own!, store.blobs.get(other!)!);
    const planted = await machine(store);
    expect([(await planted.executions.of(job))!.root, planted.executed()]).to.deep.equal([root, ITEMS]);
    expect(warnings.join()).to.match(/has not the code of this account/);
    await planted.share.settled();
    for (const [name, bytes] of store.blobs) if (name.endsWith("/roots")) bytes[40]! ^= 1;
    const spoiled = await machine(store);
    expect([(await spoiled.executions.of(job))!.root, spoiled.executed()]).to.deep.equal([root, ITEMS]);
    const full = new MemoryStore();
    full.isFull = true;
    const alone = await machine(full);
    expect((await alone.executions.of(job))!.root).to.equal(root);
    await alone.share.settled();
    expect([alone.executed(), full.blobs.size]).to.deep.equal([ITEMS, 0]);
  });

  it("aRunThatIsDropped_doesNotComeBackFromTheStore", async () => {
    const store = new MemoryStore();
    const one = await machine(store);
    await one.executions.of(job);
    await one.share.settled();
    // Nothing of it is read even while the store has it still.
    one.executions.drop(job);
    await one.executions.of(job);
    expect(one.executed()).to.equal(2 * ITEMS);
    await one.share.settled();
    const other = await machine(store);
    await other.executions.of(job);
    expect(other.executed()).to.equal(0);
    other.executions.drop(job);
    await other.share.settled();
    expect([...store.blobs.keys()].filter((name) => /index|roots/.test(name))).to.deep.equal([]);
    await other.executions.of(job);
    expect(other.executed()).to.equal(ITEMS);
  });

  it("aJobThatGoesWhileItsSnapshotIsRead_orAStoreThatIsAwayForAMoment_doNoHarm", async () => {
    const store = new MemoryStore();
    const one = await machine(store);
    const { root } = (await one.executions.of(job))!;
    await one.share.settled();
    const other = await machine(store);
    store.get = async (name) => {
      other.executions.stored.forget(new Map());
      return Promise.resolve(store.blobs.get(name));
    };
    const reading = other.executions.stored.of(job, program.model.program).readRoots();
    expect(await reading).to.equal(undefined);
    const late = await machine(store);
    store.get = () => Promise.reject(new StoreError("away"));
    expect(await late.executions.stored.of(job, program.model.program).readRoots()).to.equal(undefined);
    delete (store as Partial<MemoryStore>).get;
    expect((await late.executions.of(job))!.root).to.equal(root);
    expect([late.executed(), warnings]).to.deep.equal([0, ["away"]]);
  });

  it("aStoreThatHangs_doesNotKeepARoleFromEnding", async () => {
    const store = new MemoryStore();
    const one = await machine(store);
    let goOn = (): void => undefined;
    const put = store.put.bind(store);
    store.put = (...of) => new Promise<void>((resolve) => (goOn = resolve)).then(() => put(...of));
    await one.executions.of(job);
    await one.share.close(1);
    goOn();
    await one.share.settled();
    expect(store.blobs.size).to.equal(1);
  });

  it("signerWithAnotherSignatureEachTime_needsASecret_andGoesOnElsewhereWithIt", async () => {
    let signed = 0;
    const random = { ...account, signMessage: () => Promise.resolve(`0x${signed++}`) } as LocalAccount;
    const store = new MemoryStore();
    expect(await SharedRuns.open(store, random, log)).to.equal(undefined);
    expect(warnings.splice(0).join()).to.contain("--snapshot-key");
    const secret = new Uint8Array(32).fill(7);
    const one = await machine(store, random, secret);
    const { root } = (await one.executions.of(job))!;
    await one.share.settled();
    const other = await machine(store, random, secret);
    expect([(await other.executions.of(job))!.root, other.executed(), warnings]).to.deep.equal([root, 0, []]);
    const stranger = await machine(store, random, new Uint8Array(32).fill(8));
    expect([(await stranger.executions.of(job))!.root, stranger.executed()]).to.deep.equal([root, ITEMS]);
    expect(warnings.join()).to.contain("has not the code of this account");
  });

  it("accountThatSignsNoMessages_keepsThemOnItsMachine", async () => {
    const silent = { ...account, signMessage: () => Promise.reject(new Error("no such method")) } as LocalAccount;
    expect(await SharedRuns.open(new MemoryStore(), silent, log)).to.equal(undefined);
    expect(warnings).to.deep.equal(["no such method"]);
  });
});
