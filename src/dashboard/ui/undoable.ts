import { failureOf, run } from '../data/client.ts';
import type { Operation } from '../data/operation.ts';
import { toast } from './toast.tsx';

/** Tells what has been done, with a button that takes it back by another mutation. */
export function undoable<Result, Variables>(
  text: string,
  operation: Operation<Result, Variables>,
  variables: Variables,
): void {
  const undo = () =>
    void run(operation, variables).then(
      () => toast('It is as it was before.'),
      (error) => toast(`It couldn’t be undone. ${failureOf(error).message}`),
    );
  toast(text, { undo });
}
