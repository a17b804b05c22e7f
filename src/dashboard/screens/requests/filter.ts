// The filter of the request log. It is part of the URL, so that the back button restores it, and a link shows the same.

import { useLocation } from 'preact-iso/router';

export interface LogFilter {
  text: string;
  /** A key of `outcomes`. */
  outcome: string;
  /** The id of an endpoint; '' for all. */
  endpoint: string;
}

/** What the API is asked for. */
export interface LogVariables {
  endpointId?: string;
  statusClasses?: number[];
  refused?: boolean;
  text?: string;
}

export const outcomes: Record<string, { title: string; asks: LogVariables }> = {
  all: { title: 'Every outcome', asks: {} },
  '2xx': { title: '2xx: done', asks: { statusClasses: [2] } },
  '3xx': { title: '3xx: elsewhere', asks: { statusClasses: [3] } },
  '4xx': { title: '4xx: the visitor’s mistake', asks: { statusClasses: [4] } },
  '5xx': { title: '5xx: the service’s mistake', asks: { statusClasses: [5] } },
  none: { title: 'No answer', asks: { statusClasses: [0] } },
  refused: { title: 'Answered by the gateway', asks: { refused: true } },
};

export function useLogFilter(): [LogFilter, (some: Partial<LogFilter>) => void] {
  const { path, query, route } = useLocation();
  const filter = { text: query.text ?? '', outcome: query.outcome ?? 'all', endpoint: query.endpoint ?? '' };
  function change(some: Partial<LogFilter>) {
    const { text, outcome, endpoint } = { ...filter, ...some };
    const search = new URLSearchParams({
      ...(text && { text }),
      ...(outcome !== 'all' && { outcome }),
      ...(endpoint && { endpoint }),
    }).toString();
    route(search ? `${path}?${search}` : path, true);
  }
  return [filter, change];
}

export function logVariables({ text, outcome, endpoint }: LogFilter): LogVariables {
  return {
    ...outcomes[outcome]?.asks,
    ...(text.trim() && { text: text.trim().slice(0, 200) }),
    ...(endpoint && { endpointId: endpoint }),
  };
}
