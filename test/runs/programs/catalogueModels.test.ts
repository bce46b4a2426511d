import { expect } from "chai";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import type { Hash } from "../../../src/program/merkle/hash.ts";
import { FetchError } from "../../../src/base/fetchErrors.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { CatalogueModels, type CatalogueOptions } from "../../../src/runs/programs/catalogueModels.ts";
import { Compilations } from "../../../src/runs/programs/compilations.ts";
import { fetchModel } from "../../../src/runs/programs/fetchModel.ts";
import { openLibrary } from "../../../src/runs/programs/openLibrary.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

const rootOf = (seed: number): Hash => mlpProgram(seed).model.programRoot;

describe("models of a catalogue", function () {
  let folder: string;
  let stop: AbortController;
  let fetched: string[];
  let lines: { level: number; msg: string; reason?: string }[];
  let now: number;
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    stop = new AbortController();
    [fetched, lines, now] = [[], [], 1e12];
  });
  afterEach(() => {
    stop.abort();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What a catalogue says of a model that lies in the folder. */
  const entry = (seed: number, more: object = {}) => {
    const bytes = mlpBytes(seed);
    const path = join(folder, `${seed}.onnx`);
    writeFileSync(path, bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const uri = pathToFileURL(path).href;
    return { root: rootOf(seed), uri, sha256, bytes: bytes.length, licence: "MIT", ...more };
  };
  const catalogueOf = (...models: object[]): string => {
    const path = join(folder, "catalogue.json");
    writeFileSync(path, JSON.stringify({ models }));
    return path;
  };
  const open = async (source: string, more: Partial<CatalogueOptions> = {}, fetch = fetchModel) => {
    const library = new ProgramLibrary();
    const shared = { library, folder: join(folder, "programs"), log, signal: stop.signal };
    const counted: typeof fetchModel = (model, ...rest) => {
      fetched.push(model.uri.replace(/^.*\//, ""));
      return fetch(model, ...rest);
    };
    const options = { source, fetchBytes: 2 ** 24, now: () => now, ...more };
    const models = new CatalogueModels(options, new Compilations(shared), shared, counted);
    await models.start();
    const want = async (...roots: Hash[]): Promise<void> => {
      library.want(roots);
      await models.settled();
    };
    return { library, want };
  };
  const refusals = () => lines.filter(({ level }) => level >= 50).map(({ reason }) => reason);

  itInTime("modelThatIsWanted_isFetchedCompiledAndKnown_andInTheCacheAfterARestart", async () => {
    const source = catalogueOf(entry(1), entry(2));
    const { library, want } = await open(source);
    expect([rootOf(1), rootOf(3)].map((root) => library.awaits(root))).to.deep.equal([true, false]);
    await want(rootOf(3), rootOf(2), rootOf(1));
    expect(fetched).to.deep.equal(["2.onnx"]);
    expect((await library.load(rootOf(2)))?.model).to.deep.equal(mlpProgram(2).model);
    expect(readdirSync(join(folder, "programs"))).to.have.length(1);
    rmSync(join(folder, "2.onnx"));
    const again = await open(source);
    await again.want(rootOf(2));
    expect(again.library.knows(rootOf(2))).to.equal(true);
    expect(fetched).to.have.length(1);
  });

  itAtLength("modelOfAnotherRoot_orWithOtherBytes_orThatIsNoModel_isRefusedOnce", async () => {
    const bad = Buffer.from("no model");
    writeFileSync(join(folder, "bad.onnx"), bad);
    const noModel = {
      ...entry(3),
      uri: pathToFileURL(join(folder, "bad.onnx")).href,
      bytes: bad.length,
      sha256: createHash("sha256").update(bad).digest("hex"),
    };
    const models = [entry(1, { root: rootOf(9) }), entry(2, { sha256: "0".repeat(64) }), noModel];
    const { library, want } = await open(catalogueOf(...models));
    const roots = [rootOf(9), rootOf(2), rootOf(3)];
    for (let round = 0; round < 6; round++) await want(...roots);
    expect(fetched).to.deep.equal(["1.onnx", "2.onnx", "bad.onnx"]);
    expect(roots.map((root) => library.awaits(root) || library.knows(root))).to.deep.equal([false, false, false]);
    expect(refusals()[0]).to.contain("compiles to the root");
    expect(refusals()[1]).to.contain("SHA-256");
    expect(refusals()[2]).to.contain("do not decode");
    expect(readdirSync(join(folder, "programs"))).to.deep.equal([]);
    // The catalogue says something else of it.
    catalogueOf(entry(2));
    now += 60_000;
    await want(rootOf(2));
    expect(library.knows(rootOf(2))).to.equal(true);
  });

  itInTime("failureThatMayPass_isTriedAgainEverMoreRarely_andThenNotAnyMore", async () => {
    const { library, want } = await open(catalogueOf(entry(1)), {}, () =>
      Promise.reject(new FetchError("nobody answers")),
    );
    await want(rootOf(1));
    await want(rootOf(1));
    expect(fetched).to.have.length(1);
    for (let minute = 0; minute < 60; minute++) {
      now += 60_000;
      await want(rootOf(1));
    }
    expect(fetched).to.have.length(4);
    expect(library.awaits(rootOf(1))).to.equal(false);
    expect(refusals()).to.have.length(1);
  });

  itAtLength("bytesOfAllFetches_areBounded", async () => {
    const { library, want } = await open(catalogueOf(entry(1), entry(2)), { fetchBytes: 1.5 * mlpBytes(1).length });
    await want(rootOf(1));
    await want(rootOf(2));
    expect(fetched).to.deep.equal(["1.onnx"]);
    expect(library.awaits(rootOf(2))).to.equal(false);
    expect(refusals()[0]).to.contain("until a restart");
  });

  itInTime("onlyOneIsFetchedAtATime_andTheMostWantedFirst", async () => {
    const { library, want } = await open(catalogueOf(entry(1), entry(2), entry(3)));
    const having = want(rootOf(2), rootOf(1));
    library.want([rootOf(3)]);
    await having;
    expect(fetched).to.deep.equal(["2.onnx"]);
  });

  itInTime("otherLicences_areNotTaken", async () => {
    const source = catalogueOf(entry(1, { licence: "Secret" }), entry(2));
    const { library } = await open(source, { licences: ["MIT", "Apache-2.0"] });
    expect([1, 2].map((seed) => library.awaits(rootOf(seed)))).to.deep.equal([false, true]);
  });

  itInTime("catalogueWithoutItsForm_isRefusedAtTheStart_andLaterLeavesWhatWasKnown", async () => {
    const start = async (...models: object[]) => (await rejection(open(catalogueOf(...models)))) as { code?: string };
    for (const more of [
      { sha256: "1" },
      { root: "0x1" },
      { bytes: -1 },
      { bytes: 1.5 },
      { more: 1 },
      { options: { bind: { x: "/etc/passwd.npy" } } },
      { options: { shapes: { x: [-1] } } },
    ])
      expect(await start(entry(1, more)), JSON.stringify(more)).to.have.property("code", "CATALOGUE");
    expect(await start(...Array<object>(1_001).fill(entry(1)))).to.have.property("code", "CATALOGUE");
    expect(await rejection(open(join(folder, "none.json")))).to.have.property("code", "CATALOGUE");
    const { library, want } = await open(catalogueOf(entry(1)));
    writeFileSync(join(folder, "catalogue.json"), "{");
    now += 60_000;
    await want(rootOf(1));
    expect(library.problems[0]).to.contain("is not JSON");
    expect(library.knows(rootOf(1))).to.equal(true);
  });

  describe("on a chain", () => {
    const players = usePlayers("suite");

    itAtLength("worker_serves_andWatcherJudges_aJobOnAModelThatOnlyTheCatalogueKnows", async () => {
      const program = mlpProgram(7);
      const source = catalogueOf(entry(7));
      const known = (name: string) => {
        const catalogue = { source, fetchBytes: 2 ** 24 };
        return openLibrary({ specs: [], cache: join(folder, name), catalogue, log, signal: stop.signal });
      };
      const [forWorker, forWatcher] = [await known("worker"), await known("watcher")];
      await players().post(program, [mlpInput(7)]);
      const keys = [await players().workerKey(), await players().watcherKey()] as const;
      const lie = { step: 0, element: 3 };
      const worker = await players().startWorker(keys[0], program, reference(lie), { programs: forWorker.library });
      const submitted = await first(worker, "submitted");
      const watcher = await players().startWatcher(keys[1], program, reference(), { programs: forWatcher.library });
      expect((await first(watcher, "differs")).jobId).to.equal(submitted.jobId);
      await first(worker, "refuted");
      stop.abort();
      for (const party of [worker, watcher]) await party.stop();
      for (const { close } of [forWorker, forWatcher]) await close();
    });

    itInTime("jobOnAModelWhoseProgramHasAnotherRoot_isNotTaken_andOthersAre", async () => {
      const catalogue = { source: catalogueOf(entry(1, { root: rootOf(8) })), fetchBytes: 2 ** 24 };
      const cache = join(folder, "cache");
      const { library, close } = await openLibrary({ specs: [], cache, catalogue, log, signal: stop.signal });
      const known = mlpProgram(4);
      library.add({
        root: rootOf(4),
        shape: ProgramLibrary.of([known]).shapeOf(rootOf(4))!,
        load: () => Promise.resolve(known),
      });
      await players().post(mlpProgram(8), [mlpInput(8)], { fee: 5n * 10n ** 17n });
      const key = await players().workerKey();
      const worker = await players().startWorker(key, known, reference(), { programs: library });
      for (const end = Date.now() + 60_000; refusals().length === 0;) {
        if (Date.now() > end) throw new Error("no refusal");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const { jobId } = await players().post(known, [mlpInput(4)]);
      expect((await first(worker, "submitted")).jobId).to.equal(jobId);
      stop.abort();
      await worker.stop();
      await close();
      expect(refusals()).to.have.length(1);
    });
  });
});
