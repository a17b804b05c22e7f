/** Where the navigation and the search lead to. */
export interface NavItem {
  /** The folder of its files and of its addresses. */
  folder: string;
  title: string;
  /** Whether it stands in the navigation. */
  isListed: boolean;
}
