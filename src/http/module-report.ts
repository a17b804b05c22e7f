// What a module adds to the reports of requests and connections. Traffic events have it under the name of its report.

import type { ModuleDecisions } from './exchange.ts';

/** `word`: one of a few words of the module, which JSON need not escape. `string`: any text, such as a visitor's. */
type MemberType = 'word' | 'string';

/** How one member of a report is read from what the module noted. */
interface MemberOf<Decision> {
  readonly type: MemberType;
  /** A sentence for the reference of traffic events. */
  readonly description: string;
  read(decision: Decision): string;
}

/** One member of a report, whatever module it is of. */
export interface ReportedMember {
  readonly type: MemberType;
  readonly description: string;
  /** @returns undefined where the module was not asked. */
  read(decisions: ModuleDecisions): string | undefined;
}

/** The report of a module as others see it. */
export interface ReportedDecision {
  /** The object of traffic events that has the members, in snake_case. It is null where nothing was noted. */
  readonly name: string;
  /** Whether connections without requests have it as well. */
  readonly isOfConnections: boolean;
  readonly members: Readonly<Record<string, ReportedMember>>;
  isNoted(decisions: ModuleDecisions): boolean;
}

/** @typeParam Decision what the module notes of each request or connection. */
export class ModuleReport<Decision> implements ReportedDecision {
  readonly name: string;
  readonly isOfConnections: boolean;
  readonly members: Readonly<Record<string, ReportedMember>>;

  constructor(name: string, members: Readonly<Record<string, MemberOf<Decision>>>, isOfConnections = false) {
    this.name = name;
    this.isOfConnections = isOfConnections;
    this.members = Object.fromEntries(
      Object.entries(members).map(([member, { type, description, read }]) => {
        const readNoted = (decisions: ModuleDecisions) => {
          const decision = decisions[name] as Decision | undefined; // Only `note` writes there.
          return decision === undefined ? undefined : read(decision);
        };
        return [member, { type, description, read: readNoted }];
      }),
    );
  }

  /** @param decisions of the request or connection; undefined where nobody wants its report. */
  note(decisions: ModuleDecisions | undefined, decision: Decision): void {
    if (decisions) decisions[this.name] = decision;
  }

  isNoted(decisions: ModuleDecisions): boolean {
    return decisions[this.name] !== undefined;
  }
}

/**
 * The report of a module that decides, and says no more.
 * @param description of its only member, `decision`.
 */
export function decisionReport<Word extends string>(
  name: string,
  description: string,
  isOfConnections = false,
): ModuleReport<Word> {
  return new ModuleReport(name, { decision: { type: 'word', description, read: (word) => word } }, isOfConnections);
}
