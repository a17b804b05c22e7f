import type { ComponentType } from 'preact';

/** A destination of the navigation and the search. */
export interface NavItem {
  /** The folder of its source files, which is also the first segment of its path. */
  folder: string;
  title: string;
  /** Whether the navigation lists it. */
  isListed: boolean;
  /** Shown beside the title in the navigation. */
  badge?: ComponentType;
}
