// The codes of problems, by which programs tell them apart: made from the error table.

import type { ErrorRow } from './error-row.ts';
import { errorTable } from './error-table.ts';
import { type ApiError, canBlameMember, type InputPath, readInputPath } from './errors.ts';

/** The codes by the numbers of their rows: rows that descriptors declare are made anew each time. */
const codes = new Map(
  Object.entries(errorTable as Record<string, ErrorRow>)
    .filter(([, row]) => canBlameMember(row))
    .map(([name, row]) => [row[0], { code: capitals(name), number: row[0], text: row[3] }]),
);

function capitals(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Each code with the number and the text of its error. */
export const problemCodes: readonly { code: string; number: number; text: string }[] = [...codes.values()];

/** One of the things that are wrong with an input, as GraphQL shows it. */
interface ShownProblem {
  path: InputPath;
  code: string;
  message: string;
}

/** What the extensions of an error say of the problems that it tells of; nothing where it blames no member of an input. */
export function shownProblems({ problems, hasMoreProblems }: ApiError): {
  problems?: ShownProblem[];
  problemsTruncated?: true;
} {
  if (problems.length === 0) return {};
  return {
    problems: problems.map(({ row, member = '', inputPath, message }) => ({
      path: inputPath ?? readInputPath(member),
      code: codes.get(row[0])?.code ?? '',
      message,
    })),
    ...(hasMoreProblems && { problemsTruncated: true }),
  };
}
