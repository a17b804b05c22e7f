// Frames the results of a subscription as server-sent events (GraphQL over SSE, distinct connections mode). Yoga's own framing
// says `complete` however a stream ends, after which clients do not come back.

import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RequestContext } from '../request-context.ts';
import { errorToJson } from './errors.ts';

/** A comment is sent after so long without one; milliseconds. Clients and proxies take a longer silence for a loss. */
export const HEARTBEAT_MS = 12_000;
export const HEARTBEAT = ':\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';
/** A proxy must not gather events until it has many (nginx does), nor compress them. */
export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  Connection: 'keep-alive',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Sends a stream's results, each as an event `next`, and `complete` behind the last one if the subscription is over. */
export function useEventStreams(): Plugin<RequestContext, RequestContext> {
  return {
    onResultProcess({ result, resultProcessor, setResultProcessor, serverContext }) {
      // Where there is a processor for results without end, it is that for event streams.
      if (!resultProcessor || Array.isArray(result) || !(Symbol.asyncIterator in result)) return;
      setResultProcessor((results, { Response, ReadableStream }) => {
        const body = eventStream(results as AsyncIterable<ExecutionResult>, serverContext);
        return new Response(new ReadableStream(body), { headers: EVENT_STREAM_HEADERS });
      }, EVENT_STREAM_HEADERS['Content-Type']);
    },
  };
}

function eventStream(
  iterable: AsyncIterable<ExecutionResult>,
  context: RequestContext,
): UnderlyingDefaultSource<Uint8Array> {
  const results = iterable[Symbol.asyncIterator]();
  let heartbeat: NodeJS.Timeout;
  return {
    start(controller) {
      // The head of a response is sent with its first bytes.
      controller.enqueue(Buffer.from(HEARTBEAT));
      heartbeat = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(Buffer.from(HEARTBEAT));
      }, HEARTBEAT_MS);
    },
    async pull(controller) {
      const { value, done } = await results.next();
      if (!done) return controller.enqueue(Buffer.from(nextEvent(value, context.exchange.eventId)));
      clearInterval(heartbeat);
      if (isOver(context)) controller.enqueue(Buffer.from(COMPLETE));
      controller.close();
    },
    async cancel() {
      clearInterval(heartbeat);
      await results.return?.();
    },
  };
}

/** @param id where the stream is behind it: clients send it as `Last-Event-ID` when they come back. */
function nextEvent(result: ExecutionResult, id: string | undefined): string {
  const { errors, ...rest } = result;
  const shown = errors ? { errors: errors.map(errorToJson), ...rest } : result;
  return `${id === undefined ? '' : `id: ${id}\n`}event: next\ndata: ${JSON.stringify(shown)}\n\n`;
}

/** Whether a subscription whose stream has ended is over; otherwise it may be had again, from another process or with other rights. */
function isOver({ interruption, gateway }: RequestContext): boolean {
  return interruption === undefined && gateway?.app.shutdownSignal.aborted !== true;
}
