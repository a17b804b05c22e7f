// The problems of a policy, checked by the gateway while the user types.

import { useDebounced } from '../../../../data/hooks/use-debounced.ts';
import { useQuery } from '../../../../data/hooks/use-query.ts';
import { CheckPolicy } from '../../../../generated/operations.ts';
import type { PolicyHost } from './policy-host.ts';
import { findProblemLine } from './problem-line.ts';

/** Longer than for a search, because the gateway compiles the whole policy each time. */
const DEBOUNCE_MS = 600;

export interface Problem {
  path: string;
  message: string;
  line: number | undefined;
}

/** @returns undefined until the result for this text is known. */
export function useProblems(text: string, host: PolicyHost): readonly Problem[] | undefined {
  const debounced = useDebounced(text, DEBOUNCE_MS);
  const skip = debounced.trim() === '';
  const { proto, storedIn, exampleUrl } = host;
  const asked = { policy: debounced, proto, request: { url: exampleUrl }, storedIn };
  const { data } = useQuery(CheckPolicy, asked, { skip });
  const problems = data?.evaluatePolicy?.problems;
  if (skip || !problems || debounced !== text) return undefined;
  const all = proto === 'HTTPS' && /^\s*["']?on_tcp_connect\b/m.test(text) ? [...problems, tcpPhaseProblem] : problems;
  return all.map(({ path, message }) => ({ path, message, line: findProblemLine(text, path, message) }));
}

/**
 * The dry run does not know that the policy is for a route or a cloud endpoint, which are chosen after the connection was accepted.
 */
const tcpPhaseProblem = {
  path: 'on_tcp_connect',
  message: 'is not for a route, nor for a cloud endpoint that has requests: use on_http_request',
};

interface ProblemListProps {
  problems: readonly Problem[] | undefined;
  goTo: (line: number) => void;
}

export function ProblemList({ problems, goTo }: ProblemListProps) {
  if (!problems) return <p class="help policy-state">&nbsp;</p>;
  if (problems.length === 0) return <p class="help policy-state">Nothing is wrong with it.</p>;
  return (
    <ul class="problems" aria-label="What is wrong">
      {problems.map(({ path, message, line }, index) => (
        <li key={index}>
          {line !== undefined && (
            <button type="button" class="button plain" onClick={() => goTo(line)}>
              Line {line}
            </button>
          )}
          <span>
            <code>{path || 'the document'}</code> {message}
          </span>
        </li>
      ))}
    </ul>
  );
}
