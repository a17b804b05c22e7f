// Says what an operation was counted as, to who asks: a request with `extensions: { "cost": true }` has `extensions.cost` in its answer.
// GitHub answers this by a field of the schema, Shopify by `extensions.cost` in every answer; the names are Shopify's, the asking is
// ours, as few programs want to read it each time.

import type { Plugin } from 'graphql-yoga';
import { COST_MAX } from '../../builder/field-cost.ts';
import type { RequestContext } from '../request-context.ts';

export function useCost(): Plugin<RequestContext, RequestContext> {
  return {
    onParams({ context, params }) {
      context.wantsCost = (params.extensions as { cost?: unknown } | undefined)?.cost === true;
    },
    onExecutionResult({ context, result, setResult }) {
      const { wantsCost, read, operation } = context;
      if (!wantsCost || !result || Symbol.asyncIterator in result || !operation || !read || !('valid' in read)) return;
      const requestedQueryCost = read.valid.costs.get(operation.definition);
      setResult({
        ...result,
        extensions: { ...result.extensions, cost: { requestedQueryCost, maximumQueryCost: COST_MAX } },
      });
    },
  };
}
