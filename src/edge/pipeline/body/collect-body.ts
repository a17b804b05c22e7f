// Reading the body of a request before it goes on.

import type { PipelineRequest } from '../pipeline-request.ts';
import type { RequestSource, ResponseWriter } from '../transport.ts';
import type { BodyCollector } from './body-collector.ts';

/** Lets the visitor send the body, and answers as `BodyCollector.collect` does. */
export function collectBody(
  collector: BodyCollector,
  request: PipelineRequest,
  source: RequestSource,
  writer: ResponseWriter,
): Promise<Buffer | undefined> {
  const body = collector.collect();
  // A visitor who expects 100 Continue gets it here; upstream need not send one.
  if (!source.head.line.isHttp10 && request.takeExpectation() && !source.isReadable) writer.writeContinue();
  queueMicrotask(() => source.resume());
  return body;
}
