// What somebody asks of a bulk job, checked.

import { type BulkAction, bulkActionsFor, bulkOperationOf } from '../../collections/bulk-operations.ts';
import { type Collection, registeredCollections } from '../../collections/collection.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { chooseOwner } from '../accounts/owner.ts';
import { IDS_MAX, type NewJob } from './create-job.ts';

interface JobInput {
  list: string;
  ids?: string[] | null;
  filter?: string | null;
  search?: string | null;
  action: BulkAction;
  ownerId?: string | null;
  setLabels?: Record<string, string> | null;
  removeLabels?: string[] | null;
  expectedCount?: number | null;
}

/** The list with this name. @throws {ApiError} naming those that there are. */
function listNamed(name: string): Collection {
  const lists = registeredCollections();
  const list = lists.find(({ plural }) => plural === name);
  if (list) return list;
  throw new ApiError('unknownList', { member: 'list', known: lists.map(({ plural }) => plural).join(', ') });
}

/** @throws {ApiError} saying what would be right. */
export async function readJobInput(input: JobInput, context: Context): Promise<NewJob> {
  const { action } = input;
  const list = listNamed(input.list);
  const adminsOnly = bulkOperationOf(list.kind, action)?.adminsOnly;
  if (adminsOnly && !context.caller.isAdmin) throw new ApiError(adminsOnly);
  const offered = bulkActionsFor(context.caller, list.kind);
  if (!offered.includes(action))
    throw new ApiError('bulkNotOffered', { list: list.plural, action, offered: offered.join(', ') || 'none' });
  const { objects, parameters } = await checkAll({
    objects: () => objectsOf(input),
    parameters: () => parametersOf(input, context),
  });
  return {
    ...{ list: list.plural, kind: list.kind, action },
    ...objects,
    ...parameters,
    expectedCount: input.expectedCount ?? undefined,
  };
}

function objectsOf({ ids, filter, search }: JobInput): Pick<NewJob, 'ids' | 'filter' | 'search'> {
  const isNarrowed = Boolean(filter?.trim() || search?.trim());
  if (ids && isNarrowed) throw new ApiError('bulkObjectsTwice', { member: 'ids' });
  if (!isNarrowed && !ids?.length) throw new ApiError('bulkObjectsMissing');
  if (ids && ids.length > IDS_MAX) throw new ApiError('tooManyIds', { member: 'ids', max: IDS_MAX });
  return { ids: ids ? [...new Set(ids)] : undefined, filter: filter ?? '', search: search ?? '' };
}

async function parametersOf(
  { action, ownerId, setLabels, removeLabels }: JobInput,
  context: Context,
): Promise<Pick<NewJob, 'ownerId' | 'setLabels' | 'removeLabels'>> {
  const labels = { setLabels: setLabels ?? {}, removeLabels: [...new Set(removeLabels ?? [])] };
  const hasLabels = Object.keys(labels.setLabels).length + labels.removeLabels.length > 0;
  checkAll({
    ownerId() {
      if (action !== 'CHANGE_OWNER' && ownerId) throw new ApiError('bulkMemberUnused', { member: 'ownerId', action });
    },
    labels() {
      if (action !== 'CHANGE_LABELS' && hasLabels)
        throw new ApiError('bulkMemberUnused', { member: setLabels ? 'setLabels' : 'removeLabels', action });
    },
  });
  if (action === 'CHANGE_LABELS' && !hasLabels) throw new ApiError('bulkLabelsMissing');
  const key = labels.removeLabels.find((name) => Object.hasOwn(labels.setLabels, name));
  if (key !== undefined) throw new ApiError('labelSetAndRemoved', { key });
  if (action !== 'CHANGE_OWNER') return { ...labels, ownerId: null };
  if (!ownerId) throw new ApiError('bulkOwnerMissing', { member: 'ownerId' });
  return { ...labels, ownerId: await chooseOwner(context, ownerId) };
}
