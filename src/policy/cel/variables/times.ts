// Points and spans of time as CEL has them. They are wrapped at once: bare messages could be read while an expression is
// evaluated only, and what actions log or put into JSON is read after that.

import { create } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { DurationSchema, TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';

/** @param ms since 1970. */
export const timestamp = (ms: number): ReflectMessage => reflect(TimestampSchema, timestampFromMs(ms));

export const duration = (seconds: bigint): ReflectMessage =>
  reflect(DurationSchema, create(DurationSchema, { seconds }));
