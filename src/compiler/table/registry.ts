import type { Node } from "../../model/onnx/model.ts";
import { ACTIVATION_ROWS } from "./activations.ts";
import { ARITHMETIC_ROWS } from "./arithmetic.ts";
import { ATTENTION_ROWS } from "./attention.ts";
import { CONSTANT_ROWS } from "./constants.ts";
import { CONTROL_ROWS } from "./control.ts";
import { FUNCTION_ROWS } from "./functions.ts";
import { INTERNAL_ROWS } from "./internal.ts";
import { MICROSOFT_ROWS } from "./microsoft.ts";
import { MICROSOFT_QUANTISED_ROWS } from "./microsoftQuantised.ts";
import { ML_ROWS } from "./ml.ts";
import { MOVEMENT_ROWS } from "./movement.ts";
import { NORMALISATION_ROWS } from "./normalisation.ts";
import { PRODUCT_ROWS } from "./products.ts";
import { QUANTISED_ROWS } from "./quantised.ts";
import { RANDOM_ROWS } from "./random.ts";
import { REDUCTION_ROWS } from "./reductions.ts";
import type { Row } from "./row.ts";
import { SIGNAL_ROWS } from "./signals.ts";
import { TRAINING_ROWS } from "./training.ts";

/** The table of operators: one row for each. An operator without a row is refused by name. */
export const OPERATORS: readonly Row[] = [
  ...FUNCTION_ROWS,
  ...ARITHMETIC_ROWS,
  ...ACTIVATION_ROWS,
  ...MOVEMENT_ROWS,
  ...CONSTANT_ROWS,
  ...REDUCTION_ROWS,
  ...PRODUCT_ROWS,
  ...NORMALISATION_ROWS,
  ...ATTENTION_ROWS,
  ...SIGNAL_ROWS,
  ...QUANTISED_ROWS,
  ...RANDOM_ROWS,
  ...CONTROL_ROWS,
  ...ML_ROWS,
  ...MICROSOFT_ROWS,
  ...MICROSOFT_QUANTISED_ROWS,
  ...TRAINING_ROWS,
  ...INTERNAL_ROWS,
];

type Named = Pick<Node, "operator" | "domain">;

/** Returns an operator's name, preceded by the domain unless the domain is ai.onnx. */
export const operatorKey = ({ operator, domain }: Named): string =>
  domain === "" ? operator : `${domain}.${operator}`;

const BY_NAME: ReadonlyMap<string, Row> = new Map(OPERATORS.map((row) => [`${row.domain}.${row.operator}`, row]));

/** The row of an operator, or undefined. */
export const findRow = ({ operator, domain }: Named): Row | undefined => BY_NAME.get(`${domain}.${operator}`);
