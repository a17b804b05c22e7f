import type { ApiFailure } from '../../data/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { type Crumb, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

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
