import { RefuteError } from "../../base/errors.ts";

/** The file cannot be opened. */
export class ModelFileError extends RefuteError {
  readonly code = "MODEL_FILE";
  constructor(source: string, what: string, options?: ErrorOptions) {
    super(`cannot read the model file ${source}: it ${what}`, options);
  }
}

/** The bytes are not a whole ONNX model: another format, truncated or damaged. */
export class ModelFormatError extends RefuteError {
  readonly code = "MODEL_FORMAT";
  constructor(source: string, what: string, options?: ErrorOptions) {
    super(`${source} is not a whole ONNX model: ${what}. Export or fetch the file again`, options);
  }
}

/** The model uses an IR or operator set version unknown to this code. */
export class ModelVersionError extends RefuteError {
  readonly code = "MODEL_VERSION";
  constructor(source: string, what: string) {
    super(`${source}: ${what}. Convert the model to a version in range`);
  }
}

/** A tensor has an element type that Refute does not execute. */
export class DTypeError extends RefuteError {
  readonly code = "MODEL_DTYPE";
  constructor(source: string, where: string, dtype: string) {
    super(
      `${source}: ${where} has the element type ${dtype}, which is not executed here: ` +
        "expected float16, bfloat16, float32, float64, bool or an integer type",
    );
  }
}

/** A tensor's data lies in another file that is missing, too short or outside the model's folder. */
export class ExternalDataError extends RefuteError {
  readonly code = "MODEL_EXTERNAL_DATA";
  constructor(source: string, where: string, what: string, options?: ErrorOptions) {
    super(`${source}: the external data of ${where} ${what}. Put the file beside the model`, options);
  }
}

/** The graph contradicts itself: a name without a producer, a tensor whose data does not fit its shape. */
export class ModelGraphError extends RefuteError {
  readonly code = "MODEL_GRAPH";
  constructor(source: string, where: string, what: string) {
    super(`${source}: ${where}: ${what}`);
  }
}
