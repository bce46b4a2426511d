import { errorWithCode } from "../../base/errors.ts";

/** A margin cannot be read: a deciding tensor is missing, or has another shape than the decision needs. */
export class MarginError extends errorWithCode("DECISION_MARGIN") {}

/** A value chosen as an output does not exist in the file's graph. */
export class ValueNameError extends errorWithCode("DECISION_VALUE") {}

/**
 * A decision cannot be appended to a model. The reason lies in the decision's text, its output, or the model's
 * contents.
 */
export class DecideError extends errorWithCode("DECISION_APPEND") {}
