import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { identify, identificationOf } from "../../src/attestation/machine/identification.ts";
import { THIS_MACHINE, type Sources } from "../../src/attestation/machine/sources.ts";

const DOMAIN = `0x${"11".repeat(32)}` as const;
const OTHER_DOMAIN = `0x${"12".repeat(32)}` as const;
const UUIDS = ["GPU-01234567-89ab-cdef-0123-456789abcdef", "GPU-11234567-89ab-cdef-0123-456789abcdef"];

/** `/proc/cpuinfo` of a machine. */
const cpuinfo = (units: number): string =>
  Array.from(
    { length: units },
    (_, k) => `processor\t: ${k}\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n`,
  ).join("\n");

describe("identification of a machine", function () {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function put(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  function tool(name: string, prints: string): void {
    put(`bin/${name}`, `#!/bin/sh\n/bin/cat <<'END'\n${prints}\nEND\n`);
    chmodSync(join(folder, "bin", name), 0o755);
  }
  /** A machine of two processors with 16 GiB, as its kernel and its library have it. No tools. */
  function machine(units = 2): Sources {
    put("proc/cpuinfo", cpuinfo(units));
    put("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
    const cpus = () =>
      Array.from({ length: units }, () => ({ model: "AMD EPYC" })) as ReturnType<Sources["system"]["cpus"]>;
    return { root: folder, env: { PATH: join(folder, "bin") }, system: { cpus, totalmem: () => 2 ** 34 } };
  }
  const lscpu = (units: number) => tool("lscpu", `Vendor ID:   AuthenticAMD\nModel name: AMD EPYC\nCPU(s):  ${units}`);
  /** GPUs as the bus, the driver and its tool have them. */
  function gpus({ bus, driver, smi }: { bus: number; driver: readonly string[]; smi: readonly string[] }): void {
    for (let k = 0; k < bus; k++)
      for (const [name, text] of Object.entries({ class: "0x030200", vendor: "0x10de", device: "0x2330" }))
        put(`sys/bus/pci/devices/0000:0${k}:00.0/${name}`, `${text}\n`);
    driver.forEach((uuid, k) =>
      put(
        `proc/driver/nvidia/gpus/0000:0${k}:00.0/information`,
        `Model: \t\t NVIDIA H100\nGPU UUID: \t ${uuid}\nIRQ: 1\n`,
      ),
    );
    tool("nvidia-smi", smi.map((uuid) => `NVIDIA H100, ${uuid}, 81559`).join("\n"));
  }

  it("machineWithoutAccelerators_hasAPartOfItsProcessors", async function () {
    const sources = machine();
    lscpu(2);
    const { class: kind, parts, warnings } = await identify(DOMAIN, sources);
    expect({ kind, warnings }).to.deep.equal({ kind: "processors", warnings: [] });
    expect(parts).to.deep.equal([
      {
        kind: "processors",
        vendor: "AuthenticAMD",
        device: "AMD EPYC",
        uuid: `0x${"00".repeat(32)}`,
        memoryMiB: 16_384,
        units: 2,
        layers: ["user", "kernel"],
      },
    ]);
  });

  it("thisMachine_isIdentified", async function () {
    const { parts, root } = await identify(DOMAIN, THIS_MACHINE);
    expect(parts[0]!.units).to.be.greaterThan(0);
    expect(root).to.match(/^0x[0-9a-f]{64}$/);
  });

  it("lyingLscpu_inFrontOfThePath_isSeenAsADisagreement_andNotCounted", async function () {
    const sources = machine();
    lscpu(128);
    const { parts, warnings } = await identify(DOMAIN, sources);
    expect(warnings).to.deep.equal(["lscpu (user) says 128 logical processors, /proc (kernel) 2 logical processors"]);
    expect(parts[0]).to.deep.include({ units: 2, layers: ["user", "kernel"] });
  });

  it("procOfAnotherMachine_isSeenByTheLibraryThatReadsTheRealOne", async function () {
    const { system } = machine(2);
    const { parts, warnings } = await identify(DOMAIN, { ...machine(96), system });
    expect(warnings).to.have.length(1);
    expect(parts[0]).to.deep.include({ units: 96, layers: ["kernel"] });
  });

  it("shimBeforeTheLibrary_thatLiesToEachProgramOfTheUser_isSeen_becauseTheKernelSaysOtherwise", async function () {
    // As with LD_PRELOAD: the library here and every tool say the same.
    const sources = machine(96);
    lscpu(96);
    put("proc/cpuinfo", cpuinfo(2));
    const { parts, warnings } = await identify(DOMAIN, sources);
    expect(warnings).to.have.length(2);
    expect(parts[0]).to.deep.include({ units: 2, layers: ["kernel"] });
  });

  it("lieThatAllSourcesTell_isNotSeen", async function () {
    const sources = machine(96);
    lscpu(96);
    const { parts, warnings } = await identify(DOMAIN, sources);
    expect(warnings).to.deep.equal([]);
    expect(parts[0]).to.deep.include({ units: 96, layers: ["user", "kernel"] });
  });

  it("tablesOfTheFirmware_countAsTheHypervisor_andMayDisagree", async function () {
    const processor = Buffer.alloc(0x30);
    processor.set([4, 0x30]);
    processor[0x25] = 2;
    const module = Buffer.alloc(0x28);
    module.set([17, 0x28]);
    module.writeUInt16LE(0x7fff, 0x0c);
    module.writeUInt32LE(16_384, 0x1c);
    put("sys/firmware/dmi/entries/4-0/raw", processor);
    put("sys/firmware/dmi/entries/17-0/raw", module);
    const agreed = await identify(DOMAIN, machine(2));
    expect(agreed.warnings).to.deep.equal([]);
    expect(agreed.parts[0]!.layers).to.deep.equal(["user", "kernel", "hypervisor"]);
    const { warnings, parts } = await identify(DOMAIN, machine(8));
    expect(warnings).to.deep.equal([
      "SMBIOS (hypervisor) says 2 logical processors, /proc (kernel) 8 logical processors",
    ]);
    expect(parts[0]!.layers).to.deep.equal(["user", "kernel"]);
  });

  it("acceleratorsWithNames_areParts_withTheirNamesHashedForTheDeployment", async function () {
    const sources = machine();
    gpus({ bus: 2, driver: UUIDS, smi: UUIDS });
    const here = await identify(DOMAIN, sources);
    expect(here.class).to.equal("accelerators");
    expect(here.warnings).to.deep.equal([]);
    expect(here.parts.slice(1)).to.have.length(2);
    expect(here.parts[1]).to.deep.include({ device: "NVIDIA H100", memoryMiB: 81_559, layers: ["user", "kernel"] });
    expect(JSON.stringify(here)).to.not.contain("GPU-").and.not.contain("0000:0");
    const there = await identify(OTHER_DOMAIN, sources);
    expect(there.root).to.not.equal(here.root);
    expect(there.parts[1]!.uuid).to.not.equal(here.parts[1]!.uuid);
  });

  it("lyingNvidiaSmi_isSeen_becauseTheKernelNamesNone", async function () {
    const sources = machine();
    gpus({ bus: 0, driver: [], smi: UUIDS });
    const { parts, warnings } = await identify(DOMAIN, sources);
    expect(warnings.filter((text) => text.includes("only nvidia-smi (user)"))).to.have.length(2);
    expect(warnings.at(-1)).to.equal("drivers name 2 accelerators of NVIDIA, /sys/bus/pci (kernel) shows 0");
    expect(parts[1]!.layers).to.deep.equal(["user"]);
  });

  it("acceleratorWithoutAName_makesTheMachineUnidentified", async function () {
    const sources = machine();
    gpus({ bus: 2, driver: UUIDS.slice(0, 1), smi: UUIDS.slice(0, 1) });
    const { class: kind, parts } = await identify(DOMAIN, sources);
    expect(kind).to.equal("unidentified");
    expect(parts.at(-1)).to.deep.include({ vendor: "0x10de", device: "0x2330", layers: ["kernel"] });
  });

  it("machineOfWhichNothingIsKnown_isUnidentified", async function () {
    const system = { cpus: () => [], totalmem: () => 2 ** 34 };
    const { class: kind, parts } = await identify(DOMAIN, { root: folder, env: { PATH: "" }, system });
    expect(kind).to.equal("unidentified");
    expect(parts[0]).to.deep.include({ device: "", units: 0, layers: ["user"] });
  });

  it("root_doesNotDependOnTheOrderOfSources", function () {
    const named = (uuid: string) => ({ layer: "kernel", source: "a", vendor: "NVIDIA", device: "H100", uuid }) as const;
    const processors = [{ layer: "kernel", source: "/proc", units: 2 }] as const;
    const roots = [UUIDS, [...UUIDS].reverse()].map(
      (uuids) => identificationOf({ processors: [...processors], accelerators: uuids.map(named) }, DOMAIN).root,
    );
    expect(roots[0]).to.equal(roots[1]);
  });
});
