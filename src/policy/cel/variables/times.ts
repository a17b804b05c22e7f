// Timestamps and durations of CEL. They are wrapped at once: CEL can read bare messages only during an evaluation, and
// actions log them or convert them to JSON after it.

import { create } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { DurationSchema, TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';

/** A timestamp. @param ms the milliseconds since 1970. */
export const timestamp = (ms: number): ReflectMessage => reflect(TimestampSchema, timestampFromMs(ms));

export const duration = (seconds: bigint): ReflectMessage =>
  reflect(DurationSchema, create(DurationSchema, { seconds }));
