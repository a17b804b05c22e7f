import type { ApiFailure } from '../../data/client/client.ts';
import { LinkButton } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';
import { Skeleton } from '../feedback/skeleton.tsx';
import { Empty } from './empty-state.tsx';
import { type Crumb, Page } from './page.tsx';

interface WaitingProps {
  /** What is waited for: `API key`. */
  title: string;
  /** The last one leads to all of them. */
  crumbs: readonly Crumb[];
  error: ApiFailure | undefined;
  reload: () => Promise<void>;
}

/** A page whose object isn't there: not yet, or not any more. */
export function Waiting({ title, crumbs, error, reload }: WaitingProps) {
  const all = crumbs.at(-1);
  return (
    <Page title={title} crumbs={crumbs}>
      {error?.code === 'NOT_FOUND' ? (
        <Empty title={`There is no such ${title}`} action={all && <LinkButton href={all.href}>{all.title}</LinkButton>}>
          It has been deleted, or belongs to another account.
        </Empty>
      ) : error ? (
        <ErrorNote error={error} retry={() => void reload()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  );
}
