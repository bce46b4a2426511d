import { expect } from "chai";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseDevice } from "../../src/executor/gpu/chooseExecutor.ts";
import { FUNCTIONS } from "../../src/executor/gpu/exhaust.ts";
import { GpuReports, type GpuReport } from "../../src/runs/gpuReports.ts";
import { testGpu } from "../../src/runs/testGpu.ts";
import { faultyGpu, softwareGpu } from "../../testkit/gpu/softwareGpu.ts";
import { itAtLength } from "../../testkit/atLength.ts";
import { rejection } from "../../testkit/rejection.ts";

const FACTS = { name: "a card, a driver 1", vendor: "", driver: "a driver 1", isSoftware: false, maxBytes: 1 };
const QUICK = { selfTest: false, measure: false, exhaust: false, stride: 65_536, fillBytes: 2 ** 20 };

describe("reports on GPUs", function () {
  this.timeout(240_000);
  let folder: string;
  let reports: GpuReports;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    reports = new GpuReports(folder, "1");
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const failed = (): GpuReport => ({ ...reports.read(FACTS), selfTest: { passed: false, finding: "exp differs" } });

  it("areKeptByAdapterDriverAndVersion", async () => {
    await reports.write(failed());
    expect(reports.refusalOf(FACTS)).to.match(/^a card, a driver 1: a self test failed: exp differs; .*remove .*json/);
    expect(reports.refusalOf({ ...FACTS, driver: "a driver 2" })).to.equal(undefined);
    expect(reports.refusalOf({ ...FACTS, name: "another card" })).to.equal(undefined);
    expect(new GpuReports(folder, "2").refusalOf(FACTS)).to.equal(undefined);
  });

  it("fileThatIsNoReport_isRefusedByItsName", () => {
    for (const text of ["{", "null", "[]", '{"name":"another"}']) {
      writeFileSync(reports.fileOf(FACTS), text);
      expect(() => reports.read(FACTS)).to.throw(/is no report of a card, a driver 1: remove it/);
    }
  });

  it("wrongFunction_refusesTheGpu_andIsNamed", async () => {
    const report = reports.read(FACTS);
    report.functions.push({ name: "exp", stride: 1, chunks: [], isRight: true });
    await reports.write(report);
    expect(reports.refusalOf(FACTS)).to.equal(undefined);
    report.functions.push({ name: "sin", stride: 65_536, chunks: [], isRight: false });
    await reports.write(report);
    expect(reports.refusalOf(FACTS)).to.match(/sin has other bits than the definition on some input \(stride 65536\)/);
  });

  it("role_refusesAGpuWhoseReportFailed_beforeItIsUsed_andAutoTakesTheCpu", async function () {
    const { facts } = await softwareGpu(this);
    await reports.write({ ...reports.read(facts), selfTest: { passed: false, finding: "exp differs" } });
    const refusalOf = reports.refusalOf.bind(reports);
    const warnings: string[] = [];
    const choose = (device: string) => chooseDevice(device, (reason) => warnings.push(reason), [], refusalOf);
    const failure = await rejection(choose("gpu"));
    expect(failure).to.include({ code: "CANNOT_RUN_HERE" });
    expect(failure.message).to.match(/a self test failed: exp differs/);
    expect(await choose("auto")).to.equal(undefined);
    expect(warnings[0]).to.match(/computing on the CPU: .*exp differs/);
  });

  it("exhaust_goesOnAfterAStop_andFindsAnotherChunk", async function () {
    const gpu = await softwareGpu(this);
    const found: string[] = [];
    const look = (milliseconds?: number): Promise<GpuReport> =>
      testGpu(gpu, reports, {
        ...{ ...QUICK, exhaust: true, functions: ["sigmoid"], milliseconds },
        onFinding: (finding) => found.push(finding),
      });
    const stopped = await look(1);
    expect(stopped.functions[0]!.chunks.length).to.be.within(1, 255);
    expect([stopped.functions[0]!.isRight, found]).to.deep.equal([undefined, []]);
    const { functions } = await look();
    expect(functions.map(({ name, chunks, isRight }) => [name, chunks.length, isRight])).to.deep.equal([
      ["sigmoid", 256, true],
    ]);
    expect(found).to.deep.equal(["sigmoid, 65536 inputs: as the definition"]);
    expect(functions[0]!.chunks.slice(0, stopped.functions[0]!.chunks.length)).to.deep.equal(
      stopped.functions[0]!.chunks,
    );
    // A chunk that was another one.
    const file = reports.fileOf(gpu.facts);
    const kept = JSON.parse(readFileSync(file, "utf8")) as GpuReport;
    kept.functions[0]!.chunks[7] = "00".repeat(32);
    kept.functions[0]!.chunks.pop();
    delete kept.functions[0]!.isRight;
    writeFileSync(file, JSON.stringify(kept));
    expect((await look()).functions[0]!.isRight).to.equal(false);
    expect(reports.refusalOf(gpu.facts)).to.match(/sigmoid has other bits/);
    // What failed once is not asked again.
    expect((await look()).functions[0]!.isRight).to.equal(false);
    expect(FUNCTIONS).to.have.length(18);
  });

  itAtLength("failedSelfTest_staysFailed", async function () {
    const gpu = await softwareGpu(this);
    const options = { ...QUICK, selfTest: true, onFinding: () => {} };
    const faulty = faultyGpu(gpu, "var k = 26u", "var k = 5u");
    const first = await testGpu(faulty, reports, options);
    expect(first.selfTest).to.include({ passed: false });
    expect((await testGpu(gpu, reports, options)).selfTest).to.deep.equal(first.selfTest);
    expect(reports.refusalOf(gpu.facts)).to.match(/self test failed/);
  });
});
