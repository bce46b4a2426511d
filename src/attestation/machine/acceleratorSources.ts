import type { SeenAccelerator } from "./observation.ts";
import { fieldsOf, list, nameOf, numberOf, read, run } from "./reading.ts";

/** Makers by their number on the PCI bus. */
export const MAKERS: Readonly<Record<string, string>> = { "0x10de": "NVIDIA", "0x1002": "AMD" };
const [NVIDIA, AMD] = ["NVIDIA", "AMD"] as const;

/**
 * Looks at the accelerators of a machine: by the tools of their makers, by their drivers' files, and on the PCI bus.
 * @param root The directory read instead of `/`. @param env The tools' environment.
 */
export async function acceleratorsOf(root: string, env: NodeJS.ProcessEnv): Promise<SeenAccelerator[]> {
  const query = "--query-gpu=name,uuid,memory.total,pci.bus_id";
  const [nvidiaSmi, rocmSmi] = await Promise.all([
    run("nvidia-smi", [query, "--format=csv,noheader,nounits"], env),
    run("rocm-smi", ["--showproductname", "--showuniqueid", "--showbus", "--showmeminfo", "vram", "--json"], env),
  ]);
  return [
    ...ofNvidiaSmi(nvidiaSmi),
    ...ofRocmSmi(rocmSmi),
    ...ofNvidiaDriver(root),
    ...ofGraphicsDriver(root),
    ...ofPci(root),
  ];
}

function ofNvidiaSmi(text: string): SeenAccelerator[] {
  return text.split("\n").flatMap((line) => {
    const [device, uuid, memory, slot] = line.split(",").map((part) => part.trim());
    if (uuid === undefined || !/^GPU-[0-9a-f-]{36}$/.test(uuid)) return [];
    const seen = { layer: "user", source: "nvidia-smi", vendor: NVIDIA } as const;
    return [{ ...seen, device: nameOf(device) ?? "", uuid, memoryMiB: numberOf(memory), slot: slotOf(slot) }];
  });
}

/** Reads the JSON of AMD's tool: an object for each card, whose keys differ in case between versions. */
function ofRocmSmi(text: string): SeenAccelerator[] {
  let cards: unknown;
  try {
    cards = JSON.parse(text);
  } catch {
    return [];
  }
  if (typeof cards !== "object" || cards === null) return [];
  return Object.values(cards).flatMap((card: unknown) => {
    if (typeof card !== "object" || card === null) return [];
    const fields = Object.fromEntries(Object.entries(card).map(([key, value]) => [key.toLowerCase(), String(value)]));
    const uuid = uniqueId(fields["unique id"]);
    if (uuid === undefined) return [];
    const device = nameOf(fields["card series"] ?? fields["device name"]) ?? "";
    const memoryMiB = mebibytes(fields["vram total memory (b)"]);
    const seen = { layer: "user", source: "rocm-smi", vendor: AMD } as const;
    return [{ ...seen, device, uuid, memoryMiB, slot: slotOf(fields["pci bus"]) }];
  });
}

/** Reads the accelerators that NVIDIA's kernel module lists. */
function ofNvidiaDriver(root: string): SeenAccelerator[] {
  return list(root, "proc/driver/nvidia/gpus").flatMap((gpu) => {
    const { Model: device, "GPU UUID": uuid } = fieldsOf(read(root, `proc/driver/nvidia/gpus/${gpu}/information`));
    if (uuid === undefined || !/^GPU-[0-9a-f-]{36}$/.test(uuid)) return [];
    const seen = { layer: "kernel", source: "/proc/driver/nvidia", vendor: NVIDIA } as const;
    return [{ ...seen, device: nameOf(device) ?? "", uuid, slot: slotOf(gpu) }];
  });
}

/** Reads the cards of AMD's kernel driver: other drivers give no number of a card's own. */
function ofGraphicsDriver(root: string): SeenAccelerator[] {
  const folder = "sys/class/drm";
  const cards = list(root, folder).filter((name) => /^card\d+$/.test(name));
  return cards.flatMap((card) => {
    const [id, memory, name, uevent] = ["unique_id", "mem_info_vram_total", "product_name", "uevent"].map((file) =>
      read(root, `${folder}/${card}/device/${file}`).trim(),
    );
    const uuid = uniqueId(id);
    if (uuid === undefined) return [];
    const seen = { layer: "kernel", source: "/sys/class/drm", vendor: AMD } as const;
    const slot = slotOf(/^PCI_SLOT_NAME=(.*)$/m.exec(uevent!)?.[1]);
    return [{ ...seen, device: nameOf(name) ?? "", uuid, memoryMiB: mebibytes(memory), slot }];
  });
}

/** Classes of PCI devices that compute: 3D controllers, processing accelerators; graphics of makers of accelerators. */
const ACCELERATOR = /^0x(0302|1200)/;
const GRAPHICS = /^0x03/;

function ofPci(root: string): SeenAccelerator[] {
  const folder = "sys/bus/pci/devices";
  return list(root, folder).flatMap((slot) => {
    const [kind, vendor, device] = ["class", "vendor", "device"].map((name) =>
      read(root, `${folder}/${slot}/${name}`).trim(),
    );
    if (!ACCELERATOR.test(kind!) && !(GRAPHICS.test(kind!) && vendor! in MAKERS)) return [];
    const seen = { layer: "kernel", source: "/sys/bus/pci", vendor: nameOf(vendor) ?? "" } as const;
    const listed = listedName(root, vendor!, device!);
    return [{ ...seen, device: nameOf(device) ?? "", slot: slotOf(slot), listed }];
  });
}

/** The name of a device's number in the list that systems keep of the numbers on the PCI bus. */
function listedName(root: string, vendor: string, device: string): string | undefined {
  const paths = ["usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids"];
  const text = paths.map((path) => read(root, path)).find((each) => each !== "") ?? "";
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`${vendor.slice(2)}  `));
  if (start < 0) return undefined;
  for (const line of lines.slice(start + 1)) {
    if (/^[^\t#]/.test(line)) break;
    if (line.startsWith(`\t${device.slice(2)}  `)) return nameOf(line.slice(1 + 4 + 2));
  }
  return undefined;
}

/** A place on the bus, as all sources write it: domain of four digits, lower case. Undefined for other texts. */
function slotOf(text: string | undefined): string | undefined {
  const [, domain, rest] = /^([0-9a-f]{4,8}):([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/i.exec(text?.trim() ?? "") ?? [];
  return rest && `${domain!.slice(-4)}:${rest}`.toLowerCase();
}

/** AMD's number of a card: 16 hexadecimal digits. */
function uniqueId(text: string | undefined): string | undefined {
  const [, digits] = /^(?:0x)?([0-9a-f]{1,16})$/i.exec(text ?? "") ?? [];
  return digits === undefined || /^0+$/.test(digits) ? undefined : digits.toLowerCase().padStart(16, "0");
}

function mebibytes(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{7,15}$/.test(text) ? Math.floor(Number(text) / 2 ** 20) : undefined;
}
