import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { identify, type Identification } from "../../src/attestation/machine/identification.ts";
import type { Sources } from "../../src/attestation/machine/sources.ts";

const DOMAIN = `0x${"11".repeat(32)}` as const;
const UUIDS = ["GPU-01234567-89ab-cdef-0123-456789abcdef", "GPU-11234567-89ab-cdef-0123-456789abcdef"] as const;
const H100 = "NVIDIA H100 80GB HBM3";
const LIST = `# a list of numbers
1002  Advanced Micro Devices, Inc. [AMD/ATI]
\t74a1  Aqua Vanjaram [Instinct MI300X]
10de  NVIDIA Corporation
\t2330  GH100 [H100 SXM5 80GB]
\t\t10de 16c1  a board
\t2684  AD102 [GeForce RTX 4090]
10df  Emulex Corporation
\t2330  nothing
`;

describe("identification of accelerators", function () {
  let folder: string;
  let sources: Sources;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n");
    const cpus = () => [{ model: "AMD EPYC" }] as ReturnType<Sources["system"]["cpus"]>;
    sources = { root: folder, env: { PATH: join(folder, "bin") }, system: { cpus, totalmem: () => 2 ** 34 } };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function put(path: string, content: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  function tool(name: string, prints: string): void {
    put(`bin/${name}`, `#!/bin/sh\n/bin/cat <<'END'\n${prints}\nEND\n`);
    chmodSync(join(folder, "bin", name), 0o755);
  }
  const slot = (k: number): string => `0000:${(0x41 + k).toString(16)}:00.0`;
  function onBus(k: number, vendor = "0x10de", device = "0x2330"): void {
    for (const [name, text] of Object.entries({ class: "0x030200", vendor, device }))
      put(`sys/bus/pci/devices/${slot(k)}/${name}`, `${text}\n`);
  }
  function driven(k: number, uuid: string, model = H100): void {
    put(`proc/driver/nvidia/gpus/${slot(k)}/information`, `Model: \t\t ${model}\nGPU UUID: \t ${uuid}\n`);
  }
  const smiLine = (k: number, uuid: string, name = H100, mib = 81_559): string =>
    `${name}, ${uuid}, ${mib}, 0000${slot(k).toUpperCase()}`;
  function amd(k: number, id: string, bytes = 206_141_652_992): void {
    onBus(k, "0x1002", "0x74a1");
    const device = `sys/class/drm/card${k}/device`;
    put(`${device}/unique_id`, `${id}\n`);
    put(`${device}/mem_info_vram_total`, `${bytes}\n`);
    put(`${device}/uevent`, `DRIVER=amdgpu\nPCI_SLOT_NAME=${slot(k)}\n`);
    // An output of the card.
    put(`sys/class/drm/card${k}-DP-1/status`, "disconnected\n");
  }
  const rocm = (cards: object): void =>
    tool("rocm-smi", JSON.stringify({ ...cards, system: { "Driver version": "6" } }));
  const rocmCard = (k: number, id: string, bytes = "206141652992") => ({
    "Card Series": "AMD Instinct MI300X",
    "Unique ID": `0x${id}`,
    "PCI Bus": slot(k).toUpperCase(),
    "VRAM Total Memory (B)": bytes,
  });
  const seen = async (): Promise<Identification> => identify(DOMAIN, sources);

  it("honestMachineOfNvidia_withItsNumbersListed_hasNoWarning", async () => {
    put("usr/share/misc/pci.ids", LIST);
    for (const k of [0, 1]) {
      onBus(k);
      driven(k, UUIDS[k]!);
    }
    tool("nvidia-smi", UUIDS.map((uuid, k) => smiLine(k, uuid)).join("\n"));
    const { warnings, parts, class: kind } = await seen();
    expect({ warnings, kind, parts: parts.length }).to.deep.equal({ warnings: [], kind: "accelerators", parts: 3 });
    expect(JSON.stringify(parts)).to.not.contain("0000:4");
  });

  it("honestMachineOfAmd_isNamedByDriverAndTool", async () => {
    put("usr/share/hwdata/pci.ids", LIST);
    amd(0, "4c51f2a0b1c2d3e4");
    rocm({ card0: rocmCard(0, "4c51f2a0b1c2d3e4") });
    const { warnings, parts, class: kind } = await seen();
    expect({ warnings, kind, parts: parts.length }).to.deep.equal({ warnings: [], kind: "accelerators", parts: 2 });
    expect(parts[1]).to.deep.include({
      ...{ vendor: "AMD", device: "AMD Instinct MI300X", memoryMiB: 196_592 },
      layers: ["user", "kernel"],
    });
  });

  it("amdCardWithoutANumberOfItsOwn_makesTheMachineUnidentified", async () => {
    onBus(0, "0x1002", "0x744c");
    put("sys/class/drm/card0/device/unique_id", "0\n");
    tool("rocm-smi", "no JSON");
    const { parts, class: kind } = await seen();
    expect([kind, parts[1]!.device]).to.deep.equal(["unidentified", "0x744c"]);
  });

  it("toolOfAShellScript_isNamedUnproven", async () => {
    tool("nvidia-smi", smiLine(0, UUIDS[0]));
    rocm({ card0: rocmCard(1, "4c51f2a0b1c2d3e4") });
    const { warnings, parts } = await seen();
    expect(warnings).to.include.members([
      `only nvidia-smi (user) sees an accelerator ${H100}: unproven, the kernel names none like it`,
      "only rocm-smi (user) sees an accelerator AMD Instinct MI300X: unproven, the kernel names none like it",
    ]);
    expect(parts.slice(1).map(({ layers }) => layers)).to.deep.equal([["user"], ["user"]]);
  });

  it("oneCardUnderTwoNames_isSeenTwice", async () => {
    onBus(0);
    driven(0, UUIDS[0]);
    tool("nvidia-smi", UUIDS.map((uuid) => smiLine(0, uuid)).join("\n"));
    const { warnings } = await seen();
    expect(warnings).to.include("nvidia-smi (user) names 2 accelerators at one place on the bus: one card seen twice");
    expect(warnings).to.include("drivers name 2 accelerators of NVIDIA, /sys/bus/pci (kernel) shows 1");
  });

  it("oneNameAtTwoPlaces_isOnePart_andSeen", async () => {
    onBus(0);
    onBus(1);
    driven(0, UUIDS[0]);
    tool("nvidia-smi", [0, 1].map((k) => smiLine(k, UUIDS[0])).join("\n"));
    const { warnings, class: kind } = await seen();
    expect(kind).to.equal("unidentified");
    expect(warnings).to.include(`nvidia-smi (user) names one ${H100} twice`);
    expect(warnings).to.include(
      `/proc/driver/nvidia (kernel) has ${H100} at another place on the bus than nvidia-smi (user)`,
    );
  });

  it("renamedCard_isSeenByItsNumberOnTheBus", async () => {
    put("usr/share/misc/pci.ids", LIST);
    onBus(0, "0x10de", "0x2684");
    driven(0, UUIDS[0]);
    tool("nvidia-smi", smiLine(0, UUIDS[0]));
    const { warnings } = await seen();
    for (const source of ["nvidia-smi (user)", "/proc/driver/nvidia (kernel)"])
      expect(warnings).to.include(
        `${source} names ${H100}, but the number of the device on the bus is that of AD102 [GeForce RTX 4090]: ` +
          "renamed, or a new name",
      );
  });

  it("toolThatRenamesOrEnlargesACard_isSeenByTheDriver", async () => {
    onBus(0);
    driven(0, UUIDS[0], "NVIDIA T4");
    amd(1, "4c51f2a0b1c2d3e4", 17_163_091_968);
    tool("nvidia-smi", smiLine(0, UUIDS[0]));
    rocm({ card0: rocmCard(1, "4c51f2a0b1c2d3e4") });
    const { warnings } = await seen();
    expect(warnings).to.deep.equal([
      `/proc/driver/nvidia (kernel) says NVIDIA T4, nvidia-smi (user) ${H100}`,
      "/sys/class/drm (kernel) says 16368 MiB of AMD Instinct MI300X, rocm-smi (user) 196592 MiB",
    ]);
  });

  it("nameOfAnotherMaker_orAtAnEmptyPlace_isSeen", async () => {
    onBus(0, "0x1002", "0x74a1");
    driven(0, UUIDS[0]);
    driven(1, UUIDS[1]);
    const { warnings } = await seen();
    expect(warnings).to.include.members([
      `/proc/driver/nvidia (kernel) names ${H100} of NVIDIA, where /sys/bus/pci (kernel) shows one of 0x1002`,
      `/proc/driver/nvidia (kernel) names ${H100} at a place where /sys/bus/pci (kernel) shows no accelerator`,
    ]);
  });

  it("textsOfTools_thatMakeNoSense_sayNothing", async () => {
    for (const text of ["[]", "null", '{"card0":3,"card1":null,"card2":{"Unique ID":"N/A"}}', "\0"]) {
      tool("rocm-smi", text);
      tool("nvidia-smi", `${text}, , ,\nNVIDIA, GPU-x, 1, 2`);
      const { parts, warnings } = await seen();
      expect([parts.length, warnings]).to.deep.equal([1, []]);
    }
  });
});
