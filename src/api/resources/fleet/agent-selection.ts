// Which agents are meant: by what they have in common.

import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { builder } from '../../builder/builder.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { onLiveNodes } from '../tunnels/live-tunnels.ts';

const TEXT_MAX = 200;
/** The columns that a text is looked for in. */
const COLUMNS = ['name', 'hostName', 'ip', 'version', 'os', 'userAgent'] as const;

/** What agents have in common. All that is given has to fit. */
export interface AgentSelection {
  online?: boolean | null;
  version?: string | null;
  credentialId?: string | null;
  label?: string | null;
  text?: string | null;
}

const help = {
  online: 'Those that are connected now, or those that are not.',
  version: 'Those of this version; "" those that say none.',
  credentialId: 'Those that connected with this credential last.',
  label: 'Those with this label, `site=berlin`, or with any value of it, `site`.',
  text:
    'Those in whose name, host, address, version, system or program all words of this text occur, in any order; at most ' +
    `${TEXT_MAX} characters.`,
};

/** The same as arguments of a list. */
export function agentArguments() {
  const arg = builder.args((t) => ({
    online: t.boolean({ description: help.online }),
    version: t.string({ description: help.version }),
    credentialId: t.id({ description: help.credentialId }),
    label: t.string({ description: help.label }),
    text: t.string({ description: help.text }),
  }));
  return arg;
}

/** The part of a query that leaves the selected agents. @throws {ApiError} when the text is too long. */
export async function whereAgents(
  { online, version, credentialId, label, text }: AgentSelection,
  context: Context,
): Promise<Prisma.AgentWhereInput> {
  const all: Prisma.AgentWhereInput[] = [];
  if (online != null) {
    const live = await onLiveNodes(context);
    all.push({ sessions: online ? { some: live } : { none: live } });
  }
  if (version != null) all.push({ version });
  if (credentialId != null) all.push({ credentialId });
  if (label != null) all.push({ labels: whereLabel(label) });
  if (text != null) all.push(...whereText(text));
  return { AND: all };
}

function whereLabel(label: string): Prisma.JsonFilter<'Agent'> {
  const [key = '', ...rest] = label.split('=');
  // Every value is a text, so one that begins with nothing is any.
  return rest.length === 0 ? { path: [key], string_starts_with: '' } : { path: [key], equals: rest.join('=') };
}

function whereText(text: string): Prisma.AgentWhereInput[] {
  if (text.length > TEXT_MAX) throw new ApiError('selectionTextTooLong', { member: 'text', max: TEXT_MAX });
  const words = text.split(/\s+/).filter((word) => word !== '');
  return words.map((word) => ({
    OR: COLUMNS.map((column) => ({ [column]: { contains: word, mode: 'insensitive' } })),
  }));
}
