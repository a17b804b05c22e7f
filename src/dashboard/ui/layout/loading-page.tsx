import type { ApiFailure } from '../../data/client/client.ts';
import { LinkButton } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';
import { Skeleton } from '../feedback/skeleton.tsx';
import { EmptyState } from './empty-state.tsx';
import { type Breadcrumb, Page } from './page.tsx';

interface LoadingPageProps {
  /** What is loading: `API key`. */
  title: string;
  /** What may be missing, if it is not what the title says. */
  noun?: string;
  /** The last one leads to the list of all objects. */
  crumbs: readonly Breadcrumb[];
  error: ApiFailure | undefined;
  refetch: () => Promise<void>;
}

/** The page of an object that is loading, failed to load, or does not exist. */
export function LoadingPage({ title, noun = withinSentence(title), crumbs, error, refetch }: LoadingPageProps) {
  const parent = crumbs.at(-1);
  return (
    <Page title={title} crumbs={crumbs}>
      {error?.code === 'NOT_FOUND' ? (
        <EmptyState
          title={`There is no such ${noun}`}
          action={parent && <LinkButton href={parent.href}>{parent.title}</LinkButton>}
        >
          It has been deleted, or belongs to another account.
        </EmptyState>
      ) : error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  );
}

/** `Tunnel group` becomes `tunnel group`; `IP policy` stays. */
function withinSentence(title: string): string {
  return /^\p{Lu}\p{Ll}/u.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
