// Runs subscriptions: each caller may have a number of them open.

import { type GraphQLError, getOperationAST, subscribe } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ApiError } from '../../errors/errors.ts';
import type { RequestContext } from '../request-context.ts';

/** A dashboard has a few in each of its tabs; a program has one or two. */
const SUBSCRIPTIONS_MAX = 100;

export function useSubscriptions(): Plugin<RequestContext> {
  const limit = new SubscriptionLimit();
  return {
    onSubscribe({ args, setSubscribeFn, setResultAndStopExecution }) {
      const context = args.contextValue;
      const { exchange, gateway } = context;
      if (!context.hasAdapter) {
        context.needsAdapter = true;
        setResultAndStopExecution({});
        return;
      }
      exchange.log.operation = getOperationAST(args.document, args.operationName)?.name?.value ?? 'subscription';
      setSubscribeFn(async () => {
        const { keyId, sessionId } = exchange.log;
        try {
          exchange.response.once('close', limit.take(keyId ?? sessionId ?? exchange.clientIp));
        } catch (error) {
          return { errors: [error as GraphQLError] };
        }
        return subscribe({ ...args, contextValue: gateway });
      });
    },
  };
}

/** Counts by key, browser session or address. */
class SubscriptionLimit {
  readonly #open = new Map<string, number>();

  /** @returns what gives the place back, once. @throws {ApiError} when the caller has as many as one may have. */
  take(caller: string): () => void {
    const open = this.#open.get(caller) ?? 0;
    if (open >= SUBSCRIPTIONS_MAX) throw new ApiError('tooManySubscriptions', { max: SUBSCRIPTIONS_MAX, seconds: 1 });
    this.#open.set(caller, open + 1);
    return () => {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left > 0) this.#open.set(caller, left);
      else this.#open.delete(caller);
    };
  }
}
