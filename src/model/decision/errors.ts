import { errorWithCode } from "../../base/errors.ts";

/** A margin cannot be read: a deciding tensor is missing, or has another shape than the decision needs. */
export class MarginError extends errorWithCode("DECISION_MARGIN") {}

/** A value that is to become an output is not one of the file's graph. */
export class ValueNameError extends errorWithCode("DECISION_VALUE") {}

/** A decision cannot be appended to a model: its text, the output that it is of, or what the model has. */
export class DecideError extends errorWithCode("DECISION_APPEND") {}
