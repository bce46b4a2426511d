import { TrainingError } from "../errors.ts";
import type { Share } from "../passes/shares/cutBatch.ts";
import { FORM_NAMES, parseForm } from "../passes/shares/sumSteps.ts";

/**
 * The minimised value: `crossEntropy` of scores (classes last) with each position's class; `mse`, the mean square of
 * the difference between output and label; `output`, the model's own output, a single number.
 */
export const LOSSES = ["crossEntropy", "mse", "output"] as const;
type Loss = (typeof LOSSES)[number];

/** Each optimiser's attributes with defaults, and the number of state tensors. */
export const OPTIMISERS = {
  sgd: { operator: undefined, states: 0, attributes: {} },
  momentum: { operator: "Momentum", states: 1, attributes: { alpha: 0.9, beta: 1, norm_coefficient: 0 } },
  nesterov: { operator: "Momentum", states: 1, attributes: { alpha: 0.9, beta: 1, norm_coefficient: 0 } },
  adagrad: { operator: "Adagrad", states: 1, attributes: { decay_factor: 0, epsilon: 1e-6, norm_coefficient: 0 } },
  adam: {
    operator: "Adam",
    states: 2,
    attributes: { alpha: 0.9, beta: 0.999, epsilon: 1e-6, norm_coefficient: 0, norm_coefficient_post: 0 },
  },
} as const satisfies Record<string, { operator: string | undefined; states: number; attributes: object }>;
export type OptimiserName = keyof typeof OPTIMISERS;

/** The options that turn a model into a training run. Other options give another program. */
export type TrainSpec = {
  loss: Loss;
  /** The output for the loss, by default the model's first. */
  output?: string | undefined;
  optimiser: OptimiserName;
  /** Optimiser attributes that differ from the defaults. */
  attributes?: Readonly<Record<string, number>> | undefined;
  /** Weights that training does not change. */
  frozen?: readonly string[] | undefined;
  /** Learning rates: item i uses number i, items beyond the list the last one. By default 1. */
  rates?: number | undefined;
  /** The share of a step over many workers. Without one, the program is the whole step. */
  share?: Share | undefined;
};

/** `crossEntropy`, or with an output `mse=image`. @throws TrainingError */
export function parseLoss(text: string): Pick<TrainSpec, "loss" | "output"> {
  const [name = "", output] = text.split(/=(.*)/s);
  const loss = LOSSES.find((each) => each === name);
  if (loss !== undefined && output !== "") return { loss, ...(output !== undefined && { output }) };
  throw new TrainingError(`the loss ${text}: expected ${LOSSES.join(", ")}, or with an output, for example mse=y`);
}

/** `adam`, or with attributes `adam,beta=0.99`. @throws TrainingError */
export function parseOptimiser(text: string): Pick<TrainSpec, "optimiser" | "attributes"> {
  const [name = "", ...pairs] = text.split(",");
  if (!Object.hasOwn(OPTIMISERS, name))
    throw new TrainingError(`the optimiser ${name}: expected one of ${Object.keys(OPTIMISERS).join(", ")}`);
  const optimiser = name as OptimiserName;
  const known = Object.keys(OPTIMISERS[optimiser].attributes);
  const attributes = pairs.map((pair): [string, number] => {
    const [key = "", value = ""] = pair.split("=");
    const number = Number(value);
    if (known.includes(key) && value !== "" && Number.isFinite(number)) return [key, number];
    const those = known.length === 0 ? "none" : known.map((each) => `${each}=NUMBER`).join(", ");
    throw new TrainingError(`the optimiser ${text}: "${pair}" is no attribute of ${name}; it takes ${those}`);
  });
  return { optimiser, ...(attributes.length > 0 && { attributes: Object.fromEntries(attributes) }) };
}

export const lossText = ({ loss, output }: TrainSpec): string => (output === undefined ? loss : `${loss}=${output}`);

export const optimiserText = ({ optimiser, attributes = {} }: TrainSpec): string =>
  [optimiser, ...Object.entries(attributes).map(([name, value]) => `${name}=${value}`)].join();

/** `part=16` or `join=4`, with another form for sums behind. @throws TrainingError */
export function parseShare(text: string): Share {
  const [, kind, count, form] = /^(part|join)=([1-9]\d{0,8})(?:,(.+))?$/.exec(text) ?? [];
  const sums = form === undefined ? undefined : parseForm(form);
  if (kind === undefined || sums === "exact" || (form !== undefined && sums === undefined))
    throw new TrainingError(
      `the share ${text}: expected part=EXAMPLES or join=SHARES, alone or with a form behind: ,` +
        FORM_NAMES.slice(1).join(" or ,"),
    );
  const own = sums === undefined ? {} : { sums };
  return kind === "part" ? { part: Number(count), ...own } : { join: Number(count), ...own };
}

export const shareText = (share: Share): string =>
  `${"part" in share ? `part=${share.part}` : `join=${share.join}`}${share.sums === undefined ? "" : `,${share.sums}`}`;
