// Runs subscriptions: each caller may have a number of them open, however they are carried.

import { type GraphQLError, getOperationAST, subscribe } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { CallerLimit } from '../caller-limit.ts';
import { checkAcceptsStream } from '../media-types.ts';
import type { RequestContext } from '../request-context.ts';

/** A dashboard has a few in each of its tabs; a program has one or two. */
export const SUBSCRIPTIONS_MAX = 100;

export function useSubscriptions(): Plugin<RequestContext> {
  const limit = new CallerLimit(SUBSCRIPTIONS_MAX, 'tooManySubscriptions');
  return {
    onSubscribe({ args, setSubscribeFn, setResultAndStopExecution }) {
      const context = args.contextValue;
      const { exchange, gateway } = context;
      try {
        if (!context.isCarried) checkAcceptsStream(exchange.request.headers);
      } catch (error) {
        setResultAndStopExecution({ errors: [error as GraphQLError] });
        return;
      }
      if (!context.hasAdapter) {
        context.needsAdapter = true;
        setResultAndStopExecution({});
        return;
      }
      exchange.log.operation = getOperationAST(args.document, args.operationName)?.name?.value ?? 'subscription';
      setSubscribeFn(async () => {
        try {
          limit.takeUntilClosed(exchange);
        } catch (error) {
          return { errors: [error as GraphQLError] };
        }
        return subscribe({ ...args, contextValue: gateway });
      });
    },
  };
}
