import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { createFile, replaceFile } from "../../src/attestation/standInFile.ts";
import { RefuteError } from "../../src/base/errors.ts";
import { writeWholeSync } from "../../src/base/writeWhole.ts";
import { LogCache } from "../../src/chain/logCache.ts";
import { cutBatch } from "../../src/parties/dispatcher/batch.ts";
import { writeOutputs } from "../../src/parties/dispatcher/gather.ts";
import { DispatchStore } from "../../src/parties/dispatcher/store.ts";
import { PayerLedger } from "../../src/parties/tickets/payerLedger.ts";
import { WorkerLedger } from "../../src/parties/tickets/workerLedger.ts";
import { SealBook } from "../../src/parties/worker/sealBook.ts";
import { FolderStore } from "../../src/runs/fleet/folderStore.ts";
import { InputStore } from "../../src/runs/inputs/inputStore.ts";
import { runInputBytes, runProgram } from "../programs/runProgram.ts";

/** What happened to a place for data on a disk that becomes full. */
export type Outcome = {
  /** The error of what was too large: its code, or its name without a code. */
  error: string | undefined;
  /** The state afterwards, read from the disk again by a new process: `before` and `after` belong there. */
  kept: string[];
  /** Files that belong there. */
  files: string[];
};

/** Writes something under a name. */
type Write = (name: string, bytes: Uint8Array) => unknown;
/** A place for data. `open` gives the way to write; `read` says which names are there. */
type Place = { open: (folder: string) => Promise<Write>; read: (folder: string) => Promise<string[]> };

const NAMES = ["before", "large", "after"];
const word = (name: string): Hex => `0x${Buffer.from(name.padEnd(32)).toString("hex")}`;
const account: Hex = `0x${"12".repeat(20)}`;
const OWNER = { batch: word("batch"), chainId: 1, market: account, requester: account };
const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;
const claimOf = (name: string) => ({
  ...{ worker: account, payer: account, programRoot: word("program"), inputsRoot: word(name), items: 1, firstItem: 0 },
  ...{ number: 1n, issued: 1n, root: word("root"), secretHash: word("secret") },
});
const filesIn = (folder: string) => Promise.resolve(readdirSync(folder));
const named = (is: (name: string) => unknown): string[] => NAMES.filter((name) => is(name));

/** All ledgers and caches that are one file or a folder, and other files that are written. */
const PLACES: Record<string, Place> = {
  seals: {
    open: async (folder) => {
      const book = await SealBook.at(join(folder, "seals.db"));
      const rest = { root: word("root"), salt: word("salt") };
      return (name, bytes) => book.keep({ jobId: word(name), seal: word(name), ...rest, nodes: hex(bytes) });
    },
    read: async (folder) => {
      const book = await SealBook.at(join(folder, "seals.db"));
      return named((name) => book.of(word(name)));
    },
  },
  "ledger of a worker": {
    open: async (folder) => {
      const ledger = await WorkerLedger.open(join(folder, "worker.db"));
      return (name, bytes) => {
        const request = { nonce: word(name), payer: account, time: 1n, seconds: 1, inputsRoot: word(name) };
        ledger.reserve({ ...request, inputs: [bytes] });
        const signed = { digest: word(name), claim: claimOf(name), signature: "0x" as Hex, secret: word("secret") };
        ledger.signed(word(name), { ...signed, nodes: "0x" });
      };
    },
    read: async (folder) => {
      const ledger = await WorkerLedger.open(join(folder, "worker.db"));
      return named((name) => ledger.find(word(name))?.inputs[0]);
    },
  },
  "ledger of a payer": {
    open: async (folder) => {
      const ledger = await PayerLedger.open(join(folder, "payer.db"));
      return (name, bytes) => {
        const held = { digest: word(name), claim: claimOf(name), signature: "0x" as Hex, nodes: "0x" as Hex };
        ledger.hold({ ...held, inputs: [bytes], fate: "open" });
      };
    },
    read: async (folder) => {
      const ledger = await PayerLedger.open(join(folder, "payer.db"));
      return named((name) => ledger.find(word(name))?.inputs[0]);
    },
  },
  "state of a batch": {
    open: async (folder) => {
      const store = await DispatchStore.open(join(folder, "batch.db"), OWNER);
      return (name, bytes) => store.keep(0, word(name), 0, new Map([[0, bytes]]));
    },
    read: async (folder) => {
      const store = await DispatchStore.open(join(folder, "batch.db"), OWNER);
      return named((name) => store.hasOutput(0, word(name), 0, 0));
    },
  },
  "cache of events": {
    open: (folder) => {
      const cacheOf = (name: string) =>
        new LogCache<Uint8Array>({ folder, owner: [name], content: [], warn: (reason) => void said.push(reason) });
      const said: string[] = [];
      return Promise.resolve(async (name, bytes) => {
        await cacheOf(name).save(bytes);
        if (said.length > 0) throw new Error(said.pop());
      });
    },
    read: async (folder) => {
      const found: string[] = [];
      for (const name of NAMES) {
        const state = await new LogCache({ folder, owner: [name], content: [], warn: () => undefined }).load();
        if (state !== undefined) found.push(name);
      }
      return found;
    },
  },
  "store of a fleet": {
    open: (folder) => {
      const store = new FolderStore(folder);
      return Promise.resolve((name, bytes) => store.put(`runs/${name}`, bytes));
    },
    read: (folder) => filesIn(join(folder, "runs")),
  },
  "fetched inputs": {
    open: (folder) => {
      const store = new InputStore(folder, 2 ** 30);
      return Promise.resolve((name, bytes) => store.write(word(name).slice(2, 34), bytes, () => false));
    },
    read: (folder) => {
      const store = new InputStore(folder, 2 ** 30);
      return Promise.resolve(named((name) => store.has(word(name).slice(2, 34))));
    },
  },
  "outputs of a batch": {
    open: (folder) => {
      const batch = cutBatch({ program: runProgram(), inputs: runInputBytes(1), items: 1, partItems: 1 });
      return Promise.resolve((name, bytes) => {
        const done = () => [{ part: 0, claim: word(name), worker: account, source: "worker" as const }];
        const store = { done, output: () => bytes } as unknown as DispatchStore;
        writeOutputs(batch, store, new Map([[1, join(folder, name)]]));
      });
    },
    read: filesIn,
  },
  "files that commands write": {
    open: (folder) => Promise.resolve((name, bytes) => writeWholeSync(join(folder, name), bytes)),
    read: filesIn,
  },
  "files of a stand-in": {
    open: (folder) =>
      Promise.resolve((name, bytes) => createFile(join(folder, name), { text: Buffer.from(bytes).toString("latin1") })),
    read: filesIn,
  },
  "a stand-in's counter": {
    open: (folder) =>
      Promise.resolve((name, bytes) => replaceFile(join(folder, name), Buffer.from(bytes).toString("latin1"))),
    read: filesIn,
  },
};

/** Fills a disk with something that does not fit, and goes on. @param folder On a disk with some free room. */
async function fill(folder: string, largeBytes: number): Promise<Record<string, Outcome>> {
  const outcomes: Record<string, Outcome> = {};
  for (const [what, { open }] of Object.entries(PLACES)) {
    const own = join(folder, what.replaceAll(" ", "-"));
    mkdirSync(own);
    const write = await open(own);
    let error: string | undefined;
    for (const name of NAMES)
      try {
        await write(name, new Uint8Array(name === "large" ? largeBytes : 64).fill(97));
      } catch (thrown) {
        if (name !== "large") throw thrown;
        error = thrown instanceof RefuteError ? thrown.code : (thrown as NodeJS.ErrnoException).code ?? "no code";
      }
    outcomes[what] = { error, kept: [], files: readdirSync(own) };
  }
  return outcomes;
}

/** Looks at what is on the disk. */
export async function look(folder: string, outcomes: Record<string, Outcome>): Promise<void> {
  for (const [what, { read }] of Object.entries(PLACES))
    outcomes[what]!.kept = await read(join(folder, what.replaceAll(" ", "-")));
}

const [folder, bytes] = process.argv.slice(2);
if (process.argv[1]?.endsWith("fullDisk.ts") && folder !== undefined)
  console.log(JSON.stringify(await fill(folder, Number(bytes))));
