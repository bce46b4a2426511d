import { DType } from "../../../numerics/dtype.ts";
import { Reduce, type Step } from "../../../program/types.ts";
import { productLayout, sizeOf, type ProductLayout } from "../../plan/productLayout.ts";
import { epilogueKernel, factorKernel, type Source } from "../generate/step.ts";
import { formatNumber } from "../generate/slots.ts";
import { kernelOf, type Kernel } from "../kernel.ts";
import { reasonForCpu } from "../onCpu.ts";
import { productText, residuesText, SCALES, settleText } from "../wgsl/residues.ts";
import { TERMS_BETWEEN_CARRIES } from "../wgsl/sums.ts";
import { MAX_TERMS, moduliFor, perWordOf, type Moduli, type ResidueKind } from "./moduli.ts";

/** Options for products. Bits never depend on these options. */
export type ProductOptions = {
  /** How residues are multiplied. */
  kind: ResidueKind;
  /** The number of moduli; by default, few sums stay open. */
  moduli?: number | undefined;
  /** The fewest terms, rows and columns of a product by residues; smaller ones are summed term by term. */
  least?: { terms: number; rows: number; columns: number };
  /** The maximum bytes for a step's factors and residues; longer left factors are cut by rows. */
  mostBytes?: number;
};

/** With fewer, residues take longer than they spare. */
const LEAST = { terms: 16, rows: 4, columns: 4 };

const MOST_BYTES = 2 ** 28;

/** The bytes of a row's scale. */
const SCALE_BYTES = 16;

/** A product by residues: sizes, and the parts' places in the step's own memory. */
type Product = {
  layout: ProductLayout & { right: number };
  moduli: Moduli;
  terms: number;
  columns: number;
  /** The rows of all groups, and of one. */
  rows: { left: number; right: number; ofGroup: number };
  /** The number of left rows computed at a time. */
  rowsAtOnce: number;
  places: Record<Part, number>;
  /** The bytes of all parts. */
  bytes: number;
};

const PARTS = ["right", "rightScales", "rightResidues", "left", "leftScales", "leftResidues", "flags", "sums"] as const;
type Part = (typeof PARTS)[number];

/** Certificates exist for these sum types. */
const TYPES: readonly (DType | undefined)[] = [DType.float32, DType.float16, DType.bfloat16];

/** Elements have numbers of 32 bits. */
const MOST_ELEMENTS = 2 ** 32;

/** @returns undefined for other steps, and for products better computed term by term */
function productOf(step: Step, options: ProductOptions): Product | undefined {
  if (step.reduce !== Reduce.dot || !TYPES.includes(step.reduceType)) return undefined;
  const layout = productLayout(step, { spreads: false, packs: false });
  const [groups, ofGroup] = [sizeOf(layout.groups), sizeOf(layout.rows)];
  const [columns, terms] = [sizeOf(layout.columns), sizeOf(layout.inner)];
  const { least = LEAST, mostBytes = MOST_BYTES } = options;
  const rows = { left: groups * ofGroup, right: groups * columns, ofGroup };
  if (terms < least.terms || ofGroup < least.rows || columns < least.columns || terms > MAX_TERMS) return undefined;
  const moduli = moduliFor(options.kind, terms, options.moduli);
  if (moduli === undefined || Math.max(rows.left, rows.right) * terms >= MOST_ELEMENTS) return undefined;
  const residueBytes = 4 * moduli.moduli.length * Math.ceil(terms / perWordOf(moduli.kind));
  const rowBytes = 4 * terms + SCALE_BYTES + residueBytes;
  const room = mostBytes - rows.right * rowBytes;
  const rowsAtOnce = Math.min(rows.left, Math.floor(room / (rowBytes + 4 * columns)));
  if (rowsAtOnce < Math.min(rows.left, least.rows)) return undefined;
  const sizes: Record<Part, number> = {
    right: 4 * rows.right * terms,
    rightScales: SCALE_BYTES * rows.right,
    rightResidues: residueBytes * rows.right,
    left: 4 * rowsAtOnce * terms,
    leftScales: SCALE_BYTES * rowsAtOnce,
    leftResidues: residueBytes * rowsAtOnce,
    flags: 4 * rowsAtOnce * columns,
    sums: 4 * step.count,
  };
  const places = {} as Record<Part, number>;
  let bytes = 0;
  for (const part of PARTS) {
    places[part] = bytes;
    bytes += sizes[part];
  }
  const right = layout.right!;
  return { layout: { ...layout, right }, moduli, terms, columns, rows, rowsAtOnce, places, bytes };
}

/** Returns the products among the GPU's steps. */
export function productsOf(steps: readonly Step[], options: ProductOptions): Map<number, Product> {
  const found = steps.map((step) => (reasonForCpu(step) === undefined ? productOf(step, options) : undefined));
  return new Map(found.flatMap((product, s) => (product === undefined ? [] : [[s, product] as const])));
}

/** A product's kernels: first `before`, then the `cuts` in any order, then `after`. */
export type ProductKernels = { before: Kernel[]; cuts: Kernel[][]; after: Kernel };

/**
 * Writes the kernels of a product by residues.
 * @param own The byte address of the product's own memory.
 * @param out The byte address of the step's tensor.
 */
export function productKernels(
  step: Step,
  product: Product,
  sources: readonly Source[],
  own: number,
  out: number,
): ProductKernels {
  const { layout, moduli, terms, columns, rows, rowsAtOnce } = product;
  const { groups, inner } = layout;
  const at = (part: Part): number => (own + product.places[part]) / 4;
  const width = Math.ceil(terms / perWordOf(moduli.kind));
  const factor = (side: "left" | "right", first: number, count: number): Kernel[] => {
    const digits = [...groups, ...(side === "left" ? layout.rows : layout.columns), ...inner];
    const range = { slot: layout[side], digits, first: first * terms, count: count * terms };
    const [scales, residues] = [at(`${side}Scales`), at(`${side}Residues`)];
    return [
      factorKernel(step, sources, 4 * at(side), range),
      kernelOf(SCALES, [at(side), scales, count, terms, moduli.alpha], count, 60 * terms),
      kernelOf(residuesText(moduli), [at(side), scales, residues, count, terms, moduli.alpha], count * width, 600),
    ];
  };
  const cut = (first: number): Kernel[] => {
    const count = Math.min(rowsAtOnce, rows.left - first);
    const format = formatNumber(step.reduceType!);
    const [residues, scales] = [
      [at("leftResidues"), at("rightResidues")],
      [at("leftScales"), at("rightScales")],
    ];
    const from = [residues[0]!, scales[0]!, residues[1]!, scales[1]!, count, rows.right, columns, terms];
    const to = [first, rows.ofGroup, at("sums"), at("flags"), moduli.alpha, format];
    const open = [at("left"), at("right"), at("sums"), at("flags"), count, columns, terms, format];
    const results = count * columns;
    return [
      ...factor("left", first, count),
      kernelOf(productText(moduli), [...from, ...to], results, 8 * moduli.moduli.length * width + 2_000),
      kernelOf(settleText(TERMS_BETWEEN_CARRIES), [...open, first, rows.ofGroup], results, 80 * terms),
    ];
  };
  const firsts = Array.from({ length: Math.ceil(rows.left / rowsAtOnce) }, (_, k) => k * rowsAtOnce);
  return {
    before: factor("right", 0, rows.right),
    cuts: firsts.map(cut),
    after: epilogueKernel(step, sources, out, { address: 4 * at("sums"), strides: layout.strides }),
  };
}
